from corpusmill.cli.main import main

main()
