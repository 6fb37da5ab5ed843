package webhook

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/lab"
)

// makers is how many ServiceAccounts are made at once.
const makers = 32

// openReal starts a lab and makes the ServiceAccounts. Its controllers make one more
// in each namespace.
func openReal(ctx context.Context, s settings, folder string) (kubeconfig string, closed func(), err error) {
	options := lab.UpOptions{Dir: filepath.Join(folder, "lab"), Out: io.Discard}
	for path, from := range map[*string]string{&options.Localkube: s.localkube, &options.Tabard: s.tabard} {
		if *path, err = filepath.Abs(from); err != nil {
			return "", nil, err
		}
	}
	closed = func() { _ = lab.Down(context.WithoutCancel(ctx), lab.DownOptions{Dir: options.Dir, Out: io.Discard}) } // it ends with this program
	made, err := lab.Up(ctx, options)
	if err != nil {
		closed()
		return "", nil, err
	}
	config, err := made.ClientConfig()
	if err == nil {
		config.QPS = -1
		err = fill(ctx, config, s.accounts)
	}
	if err != nil {
		closed()
	}
	return made.Kubeconfig(), closed, err
}

// fill makes namespaces and ServiceAccounts.
func fill(ctx context.Context, config *rest.Config, accounts int) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(makers)
	for i := 0; i < accounts; i += perNamespace {
		group.Go(func() error {
			space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: accountName(i).Namespace}}
			if _, err := clients.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
				return err
			}
			for j := i; j < min(i+perNamespace, accounts); j++ {
				one := account(j)
				if _, err := clients.CoreV1().ServiceAccounts(one.Namespace).Create(ctx, one, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	fmt.Printf("made %d ServiceAccounts in %v\n", accounts, time.Since(begin).Round(time.Second))
	return err
}
