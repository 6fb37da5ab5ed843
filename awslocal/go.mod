module github.com/tabard-dev/tabard/awslocal

go 1.25.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/tabard-dev/tabard/iampolicy v0.0.0-00010101000000-000000000000
)

replace github.com/tabard-dev/tabard/iampolicy => ../iampolicy
