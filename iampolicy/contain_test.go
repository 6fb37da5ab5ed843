package iampolicy

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// permit writes a statement that allows: actions and resources are separated by spaces,
// an exclamation mark makes the element its negation, more are further elements.
func permit(actions, resources string, more ...string) string {
	return effectOf("Allow", actions, resources, more...)
}

// forbid writes one that denies.
func forbid(actions, resources string, more ...string) string {
	return effectOf("Deny", actions, resources, more...)
}

func effectOf(effect, actions, resources string, more ...string) string {
	element := func(name, list string) string {
		list, not := strings.CutPrefix(list, "!")
		if not {
			name = "Not" + name
		}
		raw, err := json.Marshal(strings.Fields(list))
		if err != nil {
			panic(err)
		}
		return `,"` + name + `":` + string(raw)
	}
	for i := range more {
		more[i] = "," + more[i]
	}
	return `{"Effect":"` + effect + `"` + element("Action", actions) + element("Resource", resources) + strings.Join(more, "") + `}`
}

// when writes a condition with one operator and one key.
func when(operator, key string, values ...string) string {
	raw, err := json.Marshal(map[string]map[string][]string{operator: {key: append([]string{}, values...)}})
	if err != nil {
		panic(err)
	}
	return `"Condition":` + string(raw)
}

// policyOf reads statements; one in front that is a version is the document's.
func policyOf(t testing.TB, statements ...string) *Policy {
	t.Helper()
	version := newVersion
	if len(statements) > 0 && unicode.IsDigit(rune(statements[0][0])) {
		version, statements = statements[0], statements[1:]
	}
	p, _ := Parse([]byte(`{"Version":"` + version + `","Statement":[` + strings.Join(statements, ",") + `]}`)) // rows have mistakes on purpose
	if p == nil {
		t.Fatalf("%s is no policy", statements)
	}
	return p
}

// containRow is a row of the tables of Contains.
type containRow struct {
	outer, inner []string
	want         Answer
}

func one(statements ...string) []string { return statements }

func testContains(t *testing.T, rows map[string]containRow) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			got := Contains(policyOf(t, row.outer...), policyOf(t, row.inner...))
			if got.Answer != row.want {
				t.Errorf("Contains() = %+v, want %s", got, row.want)
			}
			if (got.Reason == "") != (got.Answer == Yes) || (got.Statement < 0) != (got.Answer == Yes || strings.Contains(got.Reason, "principals")) {
				t.Errorf("%+v does not name what is not contained", got)
			}
		})
	}
}

const (
	bucket = "arn:aws:s3:::b"
	keys   = "arn:aws:s3:::b/*"
	queue  = "arn:aws:sqs:eu-west-1:123456789012:q"
	roles  = "arn:aws:iam::123456789012:role/"
)

func TestContainsComparesActionsAndResources(t *testing.T) {
	get := one(permit("s3:GetObject", keys))
	testContains(t, map[string]containRow{
		"a policy contains itself":                                          {get, get, Yes},
		"an empty policy is contained":                                      {get, one(), Yes},
		"an empty policy contains nothing":                                  {one(), get, No},
		"everything contains all":                                           {one(permit("*", "*")), get, Yes},
		"an action more is not contained":                                   {get, one(permit("s3:GetObject s3:PutObject", keys)), No},
		"an action of a wildcard is contained":                              {one(permit("s3:Get*", keys)), get, Yes},
		"a wildcard is not contained in one action":                         {get, one(permit("s3:Get*", keys)), No},
		"actions compare without regard to case":                            {get, one(permit("S3:getOBJECT", keys)), Yes},
		"wildcards of actions compare without regard to case":               {one(permit("S3:GET*", keys)), get, Yes},
		"resources compare with regard to case":                             {get, one(permit("s3:GetObject", "arn:aws:s3:::B/*")), No},
		"a prefix of a bucket is contained in the bucket":                   {get, one(permit("s3:GetObject", "arn:aws:s3:::b/team/*")), Yes},
		"a bucket is not contained in its keys":                             {get, one(permit("s3:GetObject", bucket)), No},
		"a bucket of a longer name is another one":                          {get, one(permit("s3:GetObject", "arn:aws:s3:::bb/*")), No},
		"a star without a slash reaches longer names":                       {get, one(permit("s3:GetObject", "arn:aws:s3:::b*")), No},
		"every resource is not every ARN":                                   {one(permit("s3:*", "arn:*:*:*:*:*")), one(permit("s3:ListAllMyBuckets", "*")), No},
		"a star does not reach over a colon before the last part":           {one(permit("sqs:*", "arn:aws:*:123456789012:a:q")), one(permit("sqs:*", "arn:aws:sqs:eu-west-1:123456789012:a:q")), No},
		"a star reaches over colons in the last part":                       {one(permit("logs:*", "arn:aws:logs:*:*:*")), one(permit("logs:*", "arn:aws:logs:eu-west-1:123456789012:log-group:g:*")), Yes},
		"stars stand for region and account":                                {one(permit("sqs:*", "arn:aws:sqs:*:*:q")), one(permit("sqs:SendMessage", queue)), Yes},
		"an ARN that ends early with a star covers what follows":            {one(permit("sqs:*", "arn:aws:sqs:*")), one(permit("sqs:SendMessage", queue)), Yes},
		"an ARN that ends early without a star covers nothing":              {one(permit("sqs:*", "arn:aws:sqs")), one(permit("sqs:SendMessage", queue)), Undecidable},
		"an ARN that ends early may be completed, and is then more":         {one(permit("sqs:*", queue)), one(permit("sqs:*", "arn:aws:sqs")), No},
		"an ARN that ends early is contained in itself":                     {one(permit("sqs:*", "arn:aws:sqs")), one(permit("sqs:*", "arn:aws:sqs")), Yes},
		"a question mark is within a star":                                  {one(permit("s3:GetObject", "arn:aws:s3:::b/*")), one(permit("s3:GetObject", "arn:aws:s3:::b/?")), Yes},
		"a star is not within a question mark":                              {one(permit("s3:GetObject", "arn:aws:s3:::b/?")), one(permit("s3:GetObject", "arn:aws:s3:::b/*")), No},
		"a question mark and a star come in any order":                      {one(permit("s3:GetObject", "arn:aws:s3:::b/*?")), one(permit("s3:GetObject", "arn:aws:s3:::b/?*")), Yes},
		"a question mark is one letter of more bytes":                       {one(permit("s3:GetObject", "arn:aws:s3:::b/?")), one(permit("s3:GetObject", "arn:aws:s3:::b/é")), Yes},
		"two patterns together cover a third":                               {one(permit("s3:GetObject", "arn:aws:s3:::b/?* arn:aws:s3:::b/")), get, Yes},
		"two statements together cover a third":                             {one(permit("s3:GetObject", "arn:aws:s3:::b/?*"), permit("s3:Get*", "arn:aws:s3:::b/")), get, Yes},
		"two patterns leave a gap":                                          {one(permit("s3:GetObject", "arn:aws:s3:::b/??* arn:aws:s3:::b/")), get, No},
		"each pair of action and resource may be in a statement of its own": {one(permit("s3:GetObject", keys), permit("s3:ListBucket", bucket), permit("s3:GetObject", bucket), permit("s3:ListBucket", keys)), one(permit("s3:GetObject s3:ListBucket", bucket+" "+keys)), Yes},
		"one pair of action and resource is missing":                        {one(permit("s3:GetObject", keys), permit("s3:ListBucket", bucket)), one(permit("s3:GetObject s3:ListBucket", bucket+" "+keys)), No},
		"actions are covered by parts with different resources":             {one(permit("s3:*", "arn:aws:s3:::b/a*"), permit("s3:Get*", keys)), one(permit("s3:GetObject", keys)), Yes},
		"of all actions some are covered on a part of the resources only":   {one(permit("s3:*", "arn:aws:s3:::b/a*"), permit("s3:Get*", keys)), one(permit("s3:*", keys)), No},
		"NotAction is contained in everything":                              {one(permit("*", "*")), one(permit("!iam:*", keys)), Yes},
		"NotAction is more than a service":                                  {one(permit("s3:*", "*")), one(permit("!iam:*", keys)), No},
		"NotAction covers what it does not name":                            {one(permit("!iam:*", "*")), get, Yes},
		"NotAction does not cover a part of what it names":                  {one(permit("!s3:Put*", "*")), one(permit("s3:*", keys)), No},
		"NotAction contains a NotAction that leaves out more":               {one(permit("!iam:*", "*")), one(permit("!iam:* sts:*", "*")), Yes},
		"NotAction does not contain one that leaves out less":               {one(permit("!iam:* sts:*", "*")), one(permit("!iam:*", "*")), No},
		"NotAction and Action together are all":                             {one(permit("!iam:*", "*"), permit("iam:*", "*")), one(permit("*", "*")), Yes},
		"NotResource covers what it does not name":                          {one(permit("s3:*", "!arn:aws:s3:::secret/*")), get, Yes},
		"NotResource does not cover what reaches what it names":             {one(permit("s3:*", "!arn:aws:s3:::b/secret/*")), get, No},
		"NotResource contains a NotResource that leaves out more":           {one(permit("s3:*", "!arn:aws:s3:::x/*")), one(permit("s3:*", "!arn:aws:s3:::x*")), Yes},
		"NotResource is not contained in a bucket":                          {get, one(permit("s3:GetObject", "!arn:aws:s3:::x/*")), No},
		"NotResource and Resource together are all":                         {one(permit("s3:*", "!"+keys), permit("s3:*", keys)), one(permit("s3:*", "*")), Yes},
		"a statement with a mistake contains nothing":                       {one(permit("s3:*", "*", `"Resources":"*"`)), get, No},
		"a statement with a mistake allows nothing":                         {get, one(permit("iam:*", "*", `"Resources":"*"`)), Yes},
		"a statement without Resource contains nothing":                     {one(`{"Effect":"Allow","Action":"*"}`), get, No},
		"an outer policy with a principal is not decided":                   {one(permit("*", "*", `"Principal":"*"`)), get, Undecidable},
		"an inner policy with a principal is not decided":                   {one(permit("*", "*")), one(permit("s3:*", "*", `"Principal":"*"`)), Undecidable},
		"a document of another version contains what it names":              {one("2008-10-17", permit("s3:*", keys)), get, Yes},
		"a document of an unknown version contains nothing":                 {one("2000-01-01", permit("s3:*", keys)), get, No},
	})
}

func TestContainsComparesVariables(t *testing.T) {
	const mine, home = "arn:aws:s3:::home/${aws:username}/*", "arn:aws:s3:::home/*"
	testContains(t, map[string]containRow{
		"a variable is contained in itself":                                {one(permit("s3:*", mine)), one(permit("s3:GetObject", mine)), Yes},
		"a variable compares without regard to case":                       {one(permit("s3:*", mine)), one(permit("s3:GetObject", "arn:aws:s3:::home/${AWS:UserName}/*")), Yes},
		"a longer path behind the same variable is contained":              {one(permit("s3:*", mine)), one(permit("s3:*", "arn:aws:s3:::home/${aws:username}/photos/*")), Yes},
		"a variable is contained in a star":                                {one(permit("s3:*", home)), one(permit("s3:*", mine)), Yes},
		"a variable is more than a question mark":                          {one(permit("s3:*", "arn:aws:s3:::home/?/*")), one(permit("s3:*", mine)), No},
		"a variable contains no text":                                      {one(permit("s3:*", mine)), one(permit("s3:*", "arn:aws:s3:::home/alice/*")), Undecidable},
		"a text contains no variable":                                      {one(permit("s3:*", "arn:aws:s3:::home/alice/*")), one(permit("s3:*", mine)), No},
		"another variable is another text":                                 {one(permit("s3:*", mine)), one(permit("s3:*", "arn:aws:s3:::home/${aws:userid}/*")), Undecidable},
		"a variable with a default is another one":                         {one(permit("s3:*", mine)), one(permit("s3:*", "arn:aws:s3:::home/${aws:username,'x'}/*")), Undecidable},
		"a variable with the same default is the same":                     {one(permit("s3:*", "arn:aws:s3:::${aws:username,'x'}/*")), one(`{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::${AWS:username , 'x'}/k"}`), Yes},
		"a key of several values is no variable":                           {one(permit("s3:*", "arn:aws:s3:::${aws:TagKeys}/*")), one(permit("s3:*", "arn:aws:s3:::${aws:TagKeys}/a/*")), Undecidable},
		"an account is contained in a star":                                {one(permit("iam:*", "arn:aws:iam::*:role/r")), one(permit("iam:*", "arn:aws:iam::${aws:PrincipalAccount}:role/r")), Yes},
		"a tag that may hold a colon is not contained in a star of a part": {one(permit("iam:*", "arn:aws:iam::*:role/r")), one(permit("iam:*", "arn:aws:iam::${aws:PrincipalTag/a}:role/r")), No},
		"in the old version a variable is plain text":                      {one("2008-10-17", permit("s3:*", mine)), one(permit("s3:*", mine)), No},
		"plain text of the old version contains itself":                    {one("2008-10-17", permit("s3:*", mine)), one("2008-10-17", permit("s3:GetObject", mine)), Yes},
		"a star that is text is contained in a star":                       {one(permit("s3:*", home)), one(permit("s3:*", "arn:aws:s3:::home/${*}")), Yes},
		"a star that is text does not contain a star":                      {one(permit("s3:*", "arn:aws:s3:::home/${*}")), one(permit("s3:*", home)), No},
		"a variable that cannot be read covers nothing":                    {one(permit("s3:*", "arn:aws:s3:::home/${aws:username")), one(permit("s3:*", "arn:aws:s3:::home/x")), Undecidable},
		"a NotResource with a variable may leave out anything":             {one(permit("s3:*", "!"+mine)), one(permit("s3:*", keys)), Undecidable},
		"a NotResource with a variable contains itself":                    {one(permit("s3:*", "!"+mine)), one(permit("s3:*", "!"+mine)), Yes},
		"a variable may be what a NotResource names":                       {one(permit("s3:*", "!arn:aws:s3:::home/bob/*")), one(permit("s3:*", mine)), No},
		"a variable cannot be what a NotResource names elsewhere":          {one(permit("s3:*", "!arn:aws:s3:::keys/*")), one(permit("s3:*", mine)), Yes},
	})
}

func TestContainsRespectsDeny(t *testing.T) {
	all, get := permit("s3:*", "*"), permit("s3:GetObject", keys)
	testContains(t, map[string]containRow{
		"a Deny of outer within the statement":                          {one(all, forbid("s3:*", "arn:aws:s3:::b/secret/*")), one(get), No},
		"a Deny of outer elsewhere":                                     {one(all, forbid("s3:*", "arn:aws:s3:::secret/*")), one(get), Yes},
		"a Deny of outer for other actions":                             {one(all, forbid("s3:Put*", "*")), one(get), Yes},
		"a Deny of outer that inner has too":                            {one(all, forbid("s3:*", "arn:aws:s3:::b/secret/*")), one(get, forbid("s3:*", "arn:aws:s3:::b/secret/*")), Yes},
		"a Deny of outer that a wider Deny of inner takes in":           {one(all, forbid("s3:Get*", "arn:aws:s3:::b/secret/*")), one(get, forbid("*", "arn:aws:s3:::b/s*")), Yes},
		"a Deny of outer that a Deny of inner takes in partly":          {one(all, forbid("s3:*", "arn:aws:s3:::b/s*")), one(get, forbid("s3:*", "arn:aws:s3:::b/secret/*")), No},
		"a Deny of outer that inner's Deny takes in where it matters":   {one(all, forbid("s3:*", "*/secret/*")), one(get, forbid("s3:Get*", "arn:aws:s3:::b/*secret*")), Yes},
		"a Deny of outer with a condition":                              {one(all, forbid("s3:*", keys, when("Bool", "aws:SecureTransport", "false"))), one(get), Undecidable},
		"a Deny of outer with a condition that inner has too":           {one(all, forbid("s3:*", keys, when("Bool", "aws:SecureTransport", "false"))), one(get, forbid("s3:*", keys, when("Bool", "aws:SecureTransport", "false"))), Yes},
		"a Deny of outer whose condition inner's condition excludes":    {one(all, forbid("s3:*", "*", when("StringNotEquals", "aws:RequestedRegion", "eu-west-1", "eu-central-1"))), one(permit("s3:GetObject", keys, when("StringEquals", "aws:RequestedRegion", "eu-west-1"))), Yes},
		"a Deny of outer whose condition inner's condition may meet":    {one(all, forbid("s3:*", "*", when("StringNotEquals", "aws:RequestedRegion", "eu-west-1"))), one(permit("s3:GetObject", keys, when("StringEquals", "aws:RequestedRegion", "eu-west-1", "us-east-1"))), Undecidable},
		"a Deny of outer for insecure transport, which inner excludes":  {one(all, forbid("s3:*", "*", when("Bool", "aws:SecureTransport", "false"))), one(permit("s3:GetObject", keys, when("Bool", "aws:SecureTransport", "true"))), Yes},
		"a Deny of outer whose condition is about another key":          {one(all, forbid("s3:*", "*", when("StringNotEquals", "k", "v"))), one(permit("s3:GetObject", keys, when("StringEquals", "m", "v"))), Undecidable},
		"a Deny of outer under a word of another key":                   {one(all, forbid("s3:*", "*", when("Bool", "k", "false"))), one(permit("s3:GetObject", keys, when("Bool", "m", "true"))), Undecidable},
		"a Deny of outer about any of several values":                   {one(all, forbid("s3:*", "*", when("ForAnyValue:StringNotEquals", "k", "v"))), one(permit("s3:GetObject", keys, when("StringEquals", "k", "v"))), Undecidable},
		"a Deny of outer where inner's condition asks any value":        {one(all, forbid("s3:*", "*", when("StringNotEquals", "k", "v"))), one(permit("s3:GetObject", keys, when("ForAnyValue:StringEquals", "k", "v"))), Undecidable},
		"a Deny of outer and a word that may be absent in inner":        {one(all, forbid("s3:*", "*", when("BoolIfExists", "k", "false"))), one(permit("s3:GetObject", keys, when("BoolIfExists", "k", "true"))), Undecidable},
		"a Deny of outer and a value that may be absent in inner":       {one(all, forbid("s3:*", "*", when("StringNotEquals", "k", "v"))), one(permit("s3:GetObject", keys, when("StringEqualsIfExists", "k", "v"))), Undecidable},
		"a Deny of outer under a positive condition that inner negates": {one(all, forbid("s3:*", "*", when("StringEquals", "aws:PrincipalTag/a", "x"))), one(permit("s3:GetObject", keys, when("StringNotEquals", "aws:PrincipalTag/a", "x", "y"))), Yes},
		"a Deny of outer that inner's Deny covers under a condition":    {one(all, forbid("s3:*", "arn:aws:s3:::b/secret/*")), one(get, forbid("s3:*", "*", when("Bool", "aws:SecureTransport", "false"))), Undecidable},
		"a Deny of inner takes away what outer lacks":                   {one(permit("s3:*", "arn:aws:s3:::b/a*")), one(get, forbid("s3:*", "!arn:aws:s3:::b/a*")), Yes},
		"a Deny of inner takes away one bucket of all":                  {one(permit("s3:*", "!arn:aws:s3:::issuer*")), one(permit("s3:*", "*"), forbid("s3:*", "arn:aws:s3:::issuer*")), Yes},
		"a Deny of inner takes away not enough":                         {one(permit("s3:*", "!arn:aws:s3:::issuer*")), one(permit("s3:*", "*"), forbid("s3:*", "arn:aws:s3:::issuer/*")), No},
		"a Deny of inner under a condition takes away nothing for sure": {one(permit("s3:*", "arn:aws:s3:::b/a*")), one(get, forbid("s3:*", "!arn:aws:s3:::b/a*", when("Bool", "aws:SecureTransport", "false"))), Undecidable},
		"a Deny of inner under the statement's own condition counts":    {one(permit("s3:*", "arn:aws:s3:::b/a*")), one(permit("s3:GetObject", keys, when("StringEquals", "k", "v")), forbid("s3:*", "!arn:aws:s3:::b/a*", when("StringEquals", "k", "v"))), Yes},
		"a Deny of outer with NotAction":                                {one(all, forbid("!s3:Get*", "*")), one(get), Yes},
		"a Deny of outer with NotAction that reaches the statement":     {one(all, forbid("!s3:Get*", "*")), one(permit("s3:*", keys)), No},
		"a Deny of outer with NotResource":                              {one(all, forbid("s3:*", "!"+keys)), one(get), Yes},
		"a Deny of outer with a variable":                               {one(all, forbid("s3:*", "arn:aws:s3:::b/${aws:username}")), one(get), Undecidable},
		"a Deny of outer with a variable elsewhere":                     {one(all, forbid("s3:*", "arn:aws:s3:::x/${aws:username}")), one(get), Yes},
		"a Deny of outer with a NotResource that is a variable":         {one(all, forbid("s3:*", "!arn:aws:s3:::${aws:username}/*")), one(get), Undecidable},
		"a Deny of outer may meet a variable of inner":                  {one(all, forbid("s3:*", "arn:aws:s3:::home/bob/*")), one(permit("s3:*", "arn:aws:s3:::home/${aws:username}/*")), Undecidable},
		"a Deny of outer with a mistake denies nothing":                 {one(all, forbid("s3:*", keys, `"Resources":"*"`)), one(get), Yes},
		"a Deny of inner with a mistake takes away nothing":             {one(permit("s3:*", "arn:aws:s3:::b/a*")), one(get, forbid("s3:*", "*", `"Resources":"*"`)), No},
	})
}
