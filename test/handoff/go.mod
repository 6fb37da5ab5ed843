module github.com/tabard-dev/tabard/test/handoff

go 1.26.0

require (
	github.com/hashicorp/hcl/v2 v2.25.0
	github.com/tabard-dev/tabard v0.0.0
	github.com/tabard-dev/tabard/awslocal v0.0.0
	github.com/tabard-dev/tabard/iampolicy v0.0.0
	github.com/zclconf/go-cty v1.19.0
	golang.org/x/text v0.42.0
)

require (
	github.com/agext/levenshtein v1.2.1 // indirect
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/apparentlymart/go-textseg/v17 v17.0.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.49.0 // indirect
)

replace github.com/tabard-dev/tabard => ../..

replace github.com/tabard-dev/tabard/iampolicy => ../../iampolicy

replace github.com/tabard-dev/tabard/awslocal => ../../awslocal
