package eks

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// other is a flag that aws takes before any command (aws help: global options), and that
// makes no token another one.
type other struct {
	name string
	// valued says that a value stands behind it.
	valued bool
	// instead is what to do where the flag is refused, because what it asks for is not
	// done here; empty for one without effect.
	instead string
}

// others are the flags of aws of both major versions, but those in common.
var others = []other{
	{name: "debug"}, {name: "v2-debug"}, {name: "no-paginate"},
	{name: "no-cli-pager"}, {name: "cli-auto-prompt"}, {name: "no-cli-auto-prompt"},
	{name: "color", valued: true}, {name: "cli-binary-format", valued: true},
	{name: "cli-read-timeout", valued: true}, {name: "cli-connect-timeout", valued: true},
	{name: "endpoint-url", valued: true, instead: "set AWS_ENDPOINT_URL_STS in the environment"},
	{name: "ca-bundle", valued: true, instead: "set AWS_CA_BUNDLE in the environment"},
	{name: "no-verify-ssl", instead: "take it out: certificates are always verified; set AWS_CA_BUNDLE to the authority's certificate"},
	{name: "no-sign-request", instead: "take it out: a token is a signed request"},
	{name: "query", valued: true, instead: "take it out: clients of the API server read the whole answer"},
}

// others makes the flags of aws known, so that the command behind them is found. Help
// does not list them.
func (a *asked) others(flags *pflag.FlagSet) {
	for _, flag := range others {
		switch {
		case flag.valued:
			flags.String(flag.name, "", flag.usage())
		default:
			flags.Bool(flag.name, false, flag.usage())
		}
		flags.Lookup(flag.name).Hidden = true
	}
	a.all = flags
}

func (o other) usage() string {
	if o.instead != "" {
		return "refused: " + o.instead
	}
	return "without effect: it is for other commands of aws"
}

// refused is an error for a flag that asks for what is not done here.
func (a *asked) refused() error {
	at := slices.IndexFunc(others, func(o other) bool { return o.instead != "" && a.all.Changed(o.name) })
	if at < 0 {
		return nil
	}
	return usage.Wrong(fmt.Errorf("the flag --%s is not supported; %s", others[at].name, others[at].instead))
}
