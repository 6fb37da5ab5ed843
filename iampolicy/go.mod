module github.com/tabard-dev/tabard/iampolicy

go 1.25.0
