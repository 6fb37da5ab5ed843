package capacity

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// partition is one of those that are not AWS's largest.
type partition struct {
	// home and other are its regions, missing is none of them.
	home, other, missing string
	// hosts are all that may be called there.
	hosts *regexp.Regexp
}

func partitions() map[string]partition {
	return map[string]partition{
		"gov":   {"us-gov-west-1", "us-gov-east-1", "us-gov-north-1", regexp.MustCompile(`^(ec2|sts)\.us-gov-(west|east)-1\.amazonaws\.com:443$`)},
		"china": {"cn-north-1", "cn-northwest-1", "cn-south-9", regexp.MustCompile(`^(ec2|sts)\.cn-(north|northwest)-1\.amazonaws\.com\.cn:443$`)},
	}
}

// testPartitions: a controller at home in another partition signs no request for
// a region of AWS's largest, also if an object or an unknown region asks for it.
func testPartitions(t *testing.T, c *cluster) {
	for name, where := range partitions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.webSite(t, name, where.home)
			s.start(t)
			s.askEverywhere(t, where)
			regions := map[string]bool{}
			for scope := range s.front.signedFor() {
				region, _, _ := strings.Cut(scope, "/")
				regions[region] = true
			}
			// A token is exchanged without a signature.
			if want := map[string]bool{"": true, where.home: true, where.other: true}; !maps.Equal(regions, want) {
				t.Errorf("requests were signed for %v, want %v", regions, want)
			}
		})
	}
}

// askEverywhere has objects in all regions of a partition, in one that is none
// of it and in one of another partition.
func (s *site) askEverywhere(t *testing.T, where partition) {
	t.Helper()
	local := s.machines(t, "local", "", "{kind: AWSMachineProviderConfig, instanceType: m5.large}")
	s.In(t).Make(local)
	remote := s.set(t, "remote", "m6g.4xlarge", where.other)
	missing := s.set(t, "missing", "m5.large", where.missing)
	foreign := s.set(t, "foreign", "m5.large", "us-east-1")
	s.awaitAnnotations(t, local, m5large())
	s.awaitAnnotations(t, remote, m6g4xlarge())
	s.awaitEvent(t, missing, "Warning ReconcileError: region "+where.missing+" is not a valid region")
	s.awaitTold(t, foreign, "Warning ReconcileError: ", "us-east-1")
}

// testNamesOfPartitions: without any endpoint configured AWS's own names are
// called, through the proxy of the environment, and none of another partition.
func testNamesOfPartitions(t *testing.T, c *cluster) {
	for name, where := range partitions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.webSite(t, name+"-names", where.home)
			proxy := startProxy(t, strings.TrimPrefix(s.aws.URL(), "https://"))
			delete(s.env, "AWS_ENDPOINT_URL")
			s.env["HTTPS_PROXY"] = proxy.URL
			s.write(t, "ca.pem", s.aws.CACertificate())
			s.start(t)
			s.askEverywhere(t, where)
			asked := proxy.hosts()
			if len(asked) < 3 {
				t.Errorf("the proxy was asked for %q, want STS, and EC2 in two regions", asked)
			}
			for _, host := range asked {
				if !where.hosts.MatchString(host) {
					t.Errorf("the proxy was asked for %s", host)
				}
			}
		})
	}
}

// proxy leads all that is asked of it to one server, and remembers the names.
type proxy struct {
	*httptest.Server
	to string

	mu    sync.Mutex
	asked map[string]bool
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	p := &proxy{to: to, asked: map[string]bool{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.asked))
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked[r.Host] = true
	p.mu.Unlock()
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	server, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, buffered) // either side may end it
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	both.Wait()
}
