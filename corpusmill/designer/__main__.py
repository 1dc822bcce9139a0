from corpusmill.designer.command import main

main()
