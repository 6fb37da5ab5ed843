package credentials

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/hack/load/measure"
	"github.com/tabard-dev/tabard/internal/lab"
)

// life is one run of the program.
type life struct {
	*measure.Program
	on *bed
	// calls are those of AWS since its start, by operation; last is the ID of the last.
	calls map[string]int
	last  string
	// writes are those of the API server before its start.
	writes map[string]float64
}

// begin starts the program, with the rights of its manifests.
func begin(ctx context.Context, on *bed) (*life, error) {
	l := &life{on: on, calls: map[string]int{}}
	if err := l.look(ctx); err != nil {
		return nil, err
	}
	clear(l.calls)
	var err error
	if l.writes, err = on.written(ctx); err != nil {
		return nil, err
	}
	token, err := on.issuer.Token(user)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(on.folder, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		return nil, err
	}
	port, err := measure.Port()
	if err != nil {
		return nil, err
	}
	args := []string{
		"operator", "--controllers=credentials", "--service-account=tabard-credentials", "--infrastructure-name=" + infrastructure, "--region=" + region,
		"--credentials-permissions-boundary=" + boundaryARN, "--credentials-writes-per-second=" + strconv.FormatFloat(on.settings.writes, 'f', -1, 64),
		"--metrics-bind-address=127.0.0.1:" + port, "--health-probe-bind-address=0", "--log-level=error",
	}
	for flag, cluster := range map[string]lab.Lab{"--kubeconfig=": on.served, "--host-kubeconfig=": on.host} {
		path, err := kubeconfig(cluster)
		if err != nil {
			return nil, err
		}
		args = append(args, flag+path)
	}
	command := exec.CommandContext(ctx, on.settings.tabard, args...)
	command.Env = []string{
		"AWS_ENDPOINT_URL=" + on.awsURL, "AWS_REGION=" + region, "AWS_WEB_IDENTITY_TOKEN_FILE=" + file,
		"AWS_ROLE_ARN=arn:aws:iam::" + account + ":role/" + minter,
	}
	for _, name := range []string{"PATH", "HOME", "GOGC", "GOMEMLIMIT"} {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	if l.Program, err = measure.Start(command); err != nil {
		return nil, err
	}
	l.Metrics = "http://127.0.0.1:" + port + "/metrics"
	return l, nil
}

// kubeconfig is a file by which the program reaches a cluster with its own rights.
func kubeconfig(of lab.Lab) (string, error) {
	config, err := clientcmd.LoadFromFile(of.Kubeconfig())
	if err != nil {
		return "", err
	}
	for _, each := range config.AuthInfos {
		each.Impersonate = user
	}
	path := of.Path("credentials.kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

func (l *life) stop() { l.Stop() }

// until waits until so many requests are fulfilled and each was looked at in this life.
func (l *life) until(ctx context.Context, count int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for {
		done, err := l.Sum(ctx, `tabard_credentials_requests{reason="Ready",state="fulfilled"}`)
		seen, err2 := l.Sum(ctx, `tabard_controller_conditions{condition="Ready",controller="credentials",status="True"}`)
		if err == nil && err2 == nil && int(done) >= count && int(seen) >= count {
			return l.look(ctx)
		}
		if err := l.look(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return l.Await(context.WithoutCancel(ctx), time.Millisecond, fmt.Sprintf("%d requests are fulfilled, %.0f are", count, done), func() bool { return false })
		}
	}
}

// look counts the calls of AWS since it looked last, before they are forgotten there.
func (l *life) look(ctx context.Context) error {
	entries, err := l.on.journal(ctx, l.last)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		l.calls[entry.Operation]++
		l.last = entry.RequestID
	}
	return nil
}

// rest watches the program while it has nothing to do.
func (l *life) rest(ctx context.Context, span time.Duration) error {
	before, err := l.Usage()
	if err != nil {
		return err
	}
	select {
	case <-time.After(span):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := l.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("    then at rest for %v: %v of CPU\n", span, after.CPU-before.CPU)
	return l.look(ctx)
}

// report tells what the life has taken.
func (l *life) report(ctx context.Context, count int) error {
	used, err := l.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("    %s; %v of CPU\n", used.Memory(), used.CPU)
	total := 0
	for _, operation := range slices.Sorted(maps.Keys(l.calls)) {
		fmt.Printf("    AWS %-34s %7d\n", operation, l.calls[operation])
		total += l.calls[operation]
	}
	fmt.Printf("    AWS in all %27s %7d: %.2f for each request\n", "", total, float64(total)/float64(count))
	if readings := l.calls["GetAccountAuthorizationDetails"] + l.calls["ListRoles"]; readings > 0 {
		fmt.Printf("    one reading of all roles, as each hour has one: %d calls, %.0f roles for a call\n", readings, float64(count)/float64(readings))
	}
	now, err := l.on.written(ctx)
	if err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if made := now[what] - l.writes[what]; made > 0 {
			fmt.Printf("    Kubernetes %-40s %7.0f: %.2f for each request\n", what, made, made/float64(count))
		}
	}
	return nil
}

// written are the writes that the API server has answered, by verb and resource. Leases
// are left out: who leads renews them.
func (b *bed) written(ctx context.Context) (map[string]float64, error) {
	text, err := b.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		verb, resource, sub := label(line, "verb"), label(line, "resource"), label(line, "subresource")
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE", "APPLY"}, verb) || !slices.Contains([]string{"credentialsrequests", "credentialsgrants", "serviceaccounts", "events", "secrets"}, resource) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(verb+" "+resource+"/"+sub, "/")] += value
	}
	return out, nil
}

// label is the value of a label of a line of metrics.
func label(line, name string) string {
	_, rest, _ := strings.Cut(line, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
