// Command bucket-controller looks after Buckets of the group
// s3.services.k8s.aws, a part of ACK's kind of that name. It is an example for
// authors of controllers: each Bucket is managed with the role that the
// IAMRoleSelectors of the cluster give it, and never with another one by
// accident. It reads as observe, decide, perform, report; what it decides is in
// package bucket.
//
// It runs as a web identity (AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE) in the
// namespace ACK_SYSTEM_NAMESPACE.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
)

const name = "bucket-controller"

func main() {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	if err := run(ctrl.SetupSignalHandler(), logger); err != nil && !errors.Is(err, flag.ErrHelp) {
		logger.Error("bucket-controller cannot run", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, logger *slog.Logger) error {
	f, err := parseFlags(os.Args[1:], os.Getenv)
	if err != nil {
		return err
	}
	sessions := roleselector.NewSessions(f.settings.SessionLimit)
	auth, err := awsauth.New(awsauth.Options{AppID: name, Logger: logger, InUse: sessions.Open})
	if err != nil {
		return err
	}
	self, err := whoAmI(auth)
	if err != nil {
		return err
	}
	mgr, err := newManager(f)
	if err != nil {
		return err
	}
	if err := mayStart(ctx, mgr.GetAPIReader()); err != nil {
		return err
	}
	if err := addController(ctx, mgr, f, auth, sessions, self); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// whoAmI is the controller's own identity. A selector's role is assumed from a web
// identity and from nothing else.
func whoAmI(auth *awsauth.Auth) (bucket.Self, error) {
	id, err := auth.WhoAmI(identity.Wish{})
	if err != nil {
		return bucket.Self{}, fmt.Errorf("roles are assumed from a web identity: %w", err)
	}
	self := bucket.Self{Identity: id, RoleARN: auth.Environment().RoleARN}
	if !identity.IsRoleARN(self.RoleARN) {
		return bucket.Self{}, fmt.Errorf("AWS_ROLE_ARN is %q and must be the ARN of an IAM role", self.RoleARN)
	}
	return self, nil
}
