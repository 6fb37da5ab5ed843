package awslocal

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestFaultsHitCallsOfEveryServiceInItsOwnForm(t *testing.T) {
	server := newServer(t, Options{})
	admin := server.Admin()
	cases := map[string]struct {
		fault  Fault
		call   func() (int, string)
		status int
		says   string
	}{
		"S3 throttles": {
			Fault{Service: "s3", Operation: "GetObject", Code: "SlowDown"},
			func() (int, string) { w := ask(server, "GET", "/bucket/key", "", nil); return w.Code, w.Body.String() },
			http.StatusServiceUnavailable, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message>"},
		"STS throttles": {
			Fault{Service: "sts", Code: "Throttling"},
			func() (int, string) {
				w := ask(server, "POST", "/", "Action=AssumeRoleWithWebIdentity&Version=2011-06-15", form)
				return w.Code, w.Body.String()
			},
			http.StatusBadRequest, "<Code>Throttling</Code><Message>Rate exceeded</Message>"},
		"a status and a text of one's own": {
			Fault{Code: "Odd", Status: 418, Message: "teapot"},
			func() (int, string) { w := ask(server, "GET", "/bucket/key", "", nil); return w.Code, w.Body.String() },
			http.StatusTeapot, "<Code>Odd</Code><Message>teapot</Message>"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			admin.ClearFaults()
			tc.fault.Count = 1
			admin.Inject(tc.fault)
			if status, body := tc.call(); status != tc.status || !strings.Contains(body, tc.says) {
				t.Errorf("answered %d %s, want %d with %s", status, body, tc.status, tc.says)
			}
			if _, body := tc.call(); strings.Contains(body, "<Code>"+tc.fault.Code+"</Code>") {
				t.Errorf("the call after the last one still fails: %s", body)
			}
			journal := admin.Journal()
			if len(journal) < 2 || journal[len(journal)-2].Error != tc.fault.Code {
				t.Errorf("the journal does not show the fault: %+v", journal)
			}
		})
	}
}

func TestFaultsByTheAdminAPI(t *testing.T) {
	server := newServer(t, Options{})
	steps := []struct {
		method, body string
		status       int
		says         string
	}{
		{"POST", `{"service":"iam","operation":"GetRole","code":"Throttling","count":3,"every":2}`, 200, `[{"service":"iam","operation":"GetRole","code":"Throttling","count":3,"every":2}]`},
		{"POST", `{"latency":"2s"}`, 200, `{"latency":"2s"}]`},
		{"POST", `{"region":"eu-west-1","code":"RequestLimitExceeded","retryAfter":7}`, 200, `{"region":"eu-west-1","code":"RequestLimitExceeded","retryAfter":7}]`},
		{"POST", `{"latency":"2s","retryAfter":7}`, 400, "no code is given"},
		{"POST", `{"code":"X","retryAfter":-7}`, 400, "must not be negative"},
		{"POST", `{"service":"iam"}`, 400, "neither code nor latency is given"},
		{"POST", `{"code":"X","count":-1}`, 400, "must not be negative"},
		{"POST", `{"code":"X","status":200}`, 400, "400 to 599"},
		{"POST", `{"code":"X","latency":"soon"}`, 400, `latency is "soon"`},
		{"POST", `{"error":"X"}`, 400, `unknown field "error"`},
		{"GET", "", 200, `{"latency":"2s"},{"region":"eu-west-1","code":"RequestLimitExceeded","retryAfter":7}]`},
		{"DELETE", "", 204, ""},
		{"GET", "", 200, "[]"},
	}
	for _, step := range steps {
		got := ask(server, step.method, "/_awslocal/faults", step.body, nil)
		if got.Code != step.status || !strings.Contains(got.Body.String(), step.says) {
			t.Errorf("%s %s answers %d %s, want %d %s", step.method, step.body, got.Code, got.Body, step.status, step.says)
		}
	}
}

func TestALatencyPasses(t *testing.T) {
	server := newServer(t, Options{})
	const latency = 30 * time.Millisecond
	server.Admin().Inject(Fault{Latency: latency})
	start := time.Now()
	ask(server, "GET", "/bucket/key", "", nil)
	if took := time.Since(start); took < latency {
		t.Errorf("the answer came after %s, before the latency of %s", took, latency)
	}
	ask(server, "POST", "/_awslocal/reset", "", nil)
	if left := server.Admin().Faults(); len(left) != 0 {
		t.Errorf("a reset leaves %+v", left)
	}
}

// probes are a harmless call to each service, signed for a region.
func probes(region string, key Credentials) map[string]*http.Request {
	return map[string]*http.Request{
		"ec2": signedFor(region, key, "", "ec2", "POST", "/", "Action=DescribeRegions"),
		"eks": signedFor(region, key, "", "eks", "GET", "/clusters", ""),
		"iam": signedFor(region, key, "", "iam", "POST", "/", queryBody(iamVersion, "ListRoles")),
		"s3":  signedFor(region, key, "", "s3", "GET", "/", ""),
		"sts": signedFor(region, key, "", "sts", "POST", "/", queryBody(stsVersion, "GetCallerIdentity")),
	}
}

// send answers a request, and what the journal says of it.
func send(server *Server, r *http.Request) (*httptest.ResponseRecorder, Entry) {
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, r)
	journal := server.Admin().Journal()
	return w, journal[len(journal)-1]
}

func TestAFaultOfARegionSparesTheOthers(t *testing.T) {
	server := newServer(t, Options{})
	server.Admin().Inject(Fault{Region: "eu-west-1", Code: "Odd"})
	for region, want := range map[string]string{"eu-west-1": "Odd", "us-east-1": "", "eu-central-1": ""} {
		for service, probe := range probes(region, server.Administrator(DefaultAccount)) {
			if _, last := send(server, probe); last.Error != want || last.Region != region {
				t.Errorf("%s in %s: the journal says %q in %q, want %q", service, region, last.Error, last.Region, want)
			}
		}
	}
	// An unsigned call is where STS's endpoint is.
	for host, want := range map[string]string{
		"sts.eu-west-1.amazonaws.com": "Odd", "sts.eu-west-1.amazonaws.com:443": "Odd", "sts.us-west-2.amazonaws.com": "ValidationError",
		"sts.amazonaws.com": "ValidationError", "127.0.0.1:1": "ValidationError", "sts.eu-west-1.amazonaws.com.cn": "ValidationError", "eu-west-1.amazonaws.com": "ValidationError",
	} {
		ask(server, "POST", "/", "Action=AssumeRoleWithWebIdentity&Version=2011-06-15", func(r *http.Request) { form(r); r.Host = host })
		journal := server.Admin().Journal()
		if last := journal[len(journal)-1]; last.Error != want {
			t.Errorf("an unsigned call to %s fails with %q in %q, want %q", host, last.Error, last.Region, want)
		}
	}
}

func TestErrorsSayWhenToTryAgain(t *testing.T) {
	server := newServer(t, Options{})
	server.Admin().Inject(Fault{Code: "Odd", RetryAfter: 7})
	for service, probe := range probes("us-east-1", server.Administrator(DefaultAccount)) {
		if w, last := send(server, probe); w.Header().Get("Retry-After") != "7" || last.Error != "Odd" {
			t.Errorf("%s fails with %q and Retry-After %q, want 7", service, last.Error, w.Header().Get("Retry-After"))
		}
	}
	server.Admin().ClearFaults()
	for service, probe := range probes("us-east-1", server.Administrator(DefaultAccount)) {
		if w, last := send(server, probe); w.Header().Get("Retry-After") != "" || last.Error != "" {
			t.Errorf("%s without a fault: %q and Retry-After %q", service, last.Error, w.Header().Get("Retry-After"))
		}
	}
}

func TestModesByTheAdminAPI(t *testing.T) {
	server := newServer(t, Options{})
	steps := []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "consistency", "", 200, `{"delay":"0s","seed":0}`},
		{"POST", "consistency", `{"delay":"5s","seed":7}`, 200, `{"delay":"5s","seed":7}`},
		{"POST", "consistency", `{"delay":"soon"}`, 400, `delay is "soon"`},
		{"POST", "consistency", `{"delay":"-1s"}`, 400, "must not be negative"},
		{"POST", "consistency", `{"seed":7}`, 400, `delay is ""`},
		{"POST", "consistency", `{"delays":"5s"}`, 400, `unknown field "delays"`},
		{"GET", "consistency", "", 200, `{"delay":"5s","seed":7}`},
		{"GET", "short-pages", "", 200, `{"on":false,"seed":0}`},
		{"POST", "short-pages", `{"on":true,"seed":3}`, 200, `{"on":true,"seed":3}`},
		{"POST", "short-pages", `{"yes":true}`, 400, `unknown field "yes"`},
		{"POST", "reset", "", 204, ""},
		{"GET", "consistency", "", 200, `{"delay":"0s","seed":0}`},
		{"GET", "short-pages", "", 200, `{"on":false,"seed":0}`},
	}
	for _, step := range steps {
		got := ask(server, step.method, "/_awslocal/"+step.path, step.body, nil)
		if got.Code != step.status || !strings.Contains(got.Body.String(), step.says) {
			t.Errorf("%s %s %s answers %d %s, want %d %s", step.method, step.path, step.body, got.Code, got.Body, step.status, step.says)
		}
	}
}
