package app

import (
	"context"
	"fmt"
	"io"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// printing is how a bootstrap is handed to somebody with other rights.
type printing struct{ form, account string }

// run prints the work. Nothing is written, in AWS or in the cluster.
func (p printing) run(ctx context.Context, out io.Writer, issuer *v1alpha1.OIDCIssuer, wish *cli.Bootstrap) error {
	account := p.account
	switch {
	case account == "":
		auth, err := newAuth()
		if err != nil {
			return err
		}
		session := identity.Identity{Base: identity.Session}.In(issuer.Spec.Publication.S3.Region)
		if account, _, err = caller.New(auth).Caller(ctx, session); err != nil {
			return fmt.Errorf("AWS does not know your session: %w; sign in, or name the account with --account", err)
		}
	case !identity.IsAccountID(account):
		return program.Unusable(fmt.Errorf("--account is %q, expected the twelve digits of an AWS account", account))
	}
	text, err := cli.Handoff(issuer, account, wish.Operator, wish.Role).Text(handoff.Form(p.form))
	if err != nil {
		return program.Unusable(fmt.Errorf("--print: %w", err))
	}
	_, err = io.WriteString(out, text)
	return err
}
