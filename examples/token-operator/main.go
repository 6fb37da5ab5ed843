// Command token-operator is an operator in small, for authors of operators: on
// an OpenShift cluster that gives short-lived tokens it asks for a role in AWS
// by a CredentialsRequest, waits for its Secret, becomes the role, and tells in
// the status of an object of its own who it is, or what is missing. That is all
// that it does; docs/operator-authors.md explains it.
//
// The environment names the role (ROLEARN) and the namespace (POD_NAMESPACE).
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/kube"
)

// name is that of the operator, its ServiceAccount, its status object and its
// CredentialsRequest.
const name = "token-operator"

type operator struct {
	role, namespace, tokenFile string
	patience, every            time.Duration
	// more are actions that the request asks for besides those of the operator itself.
	more []any

	client  dynamic.Interface
	events  events.EventRecorder
	cluster *kube.Cluster
	auth    *awsauth.Auth
	// changed holds a token if something that was read has changed.
	changed chan struct{}
	// missing is since when the Secret is missed; zero if it is not.
	missing time.Time
}

func main() {
	o := &operator{role: os.Getenv("ROLEARN"), namespace: os.Getenv("POD_NAMESPACE"), changed: make(chan struct{}, 1)}
	flag.StringVar(&o.tokenFile, "token-file", "/var/run/secrets/openshift/serviceaccount/token", "where the pod's token for AWS is mounted")
	flag.DurationVar(&o.patience, "patience", 2*time.Minute, "how long the Secret may be missing before that is a warning")
	flag.DurationVar(&o.every, "every", 30*time.Second, "how often to look again at what is not watched")
	flag.Func("ask", "one more `ACTION` of AWS that the request asks for, on all resources; may be repeated", func(action string) error {
		o.more = append(o.more, action)
		return nil
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.connect(ctx); err != nil {
		slog.Error("token-operator cannot start", "error", err)
		os.Exit(1) //nolint:gocritic // the process's end stops the signals too
	}
	o.run(ctx)
}

func (o *operator) connect(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	if o.client, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.EventsV1()})
	o.events = broadcaster.NewRecorder(runtime.NewScheme(), name)
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	o.cluster = kube.New(ctx, kube.Options{Client: o.client, Changed: func(kube.Reference) {
		select {
		case o.changed <- struct{}{}:
		default: // one is waiting already
		}
	}})
	o.auth, err = awsauth.New(awsauth.Options{Source: o.cluster, TokenFiles: []string{o.tokenFile}, AppID: name})
	return err
}

// run looks at once, when the Secret or the Infrastructure changes, and every
// so often. Nothing that is absent or late ends it.
func (o *operator) run(ctx context.Context) {
	ticker := time.NewTicker(o.every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		me, err := o.statusObject(ctx)
		if err == nil {
			err = o.report(ctx, me, o.become(ctx, me))
		}
		if err != nil {
			slog.Warn("the status cannot be written; looking again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-o.changed:
		case <-ticker.C:
		}
	}
}
