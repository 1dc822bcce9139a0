from qa.fuzz.campaign import main

if __name__ == "__main__":
    main()
