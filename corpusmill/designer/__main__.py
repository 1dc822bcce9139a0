from corpusmill.tools.tune.bands.recommending import main

main()
