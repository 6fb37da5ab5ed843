package metric_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tabard-dev/tabard/awsauth/metric"
)

func TestWhatHappensIsCounted(t *testing.T) {
	c := metric.New("tabard")
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	c.Built("irsa", nil)
	c.Built("irsa", nil)
	c.Built("secret", &smithy.GenericAPIError{Code: "SecretNotFound"})
	c.Built("secret", errors.New("odd"))
	c.Cached(3)
	c.Displaced()
	c.Refreshed("irsa", "", time.Unix(1_700_000_000, 0))
	c.Refreshed("irsa", "AccessDenied", time.Time{})
	c.Called("EC2", "DescribeInstanceTypes", "", 30*time.Millisecond)
	c.Called("EC2", "DescribeInstanceTypes", "RequestLimitExceeded", time.Second)
	want := `
# HELP tabard_aws_api_requests_total Requests to AWS, each attempt by itself.
# TYPE tabard_aws_api_requests_total counter
tabard_aws_api_requests_total{code="",operation="DescribeInstanceTypes",service="EC2"} 1
tabard_aws_api_requests_total{code="RequestLimitExceeded",operation="DescribeInstanceTypes",service="EC2"} 1
# HELP tabard_aws_api_throttles_total Requests that AWS throttled.
# TYPE tabard_aws_api_throttles_total counter
tabard_aws_api_throttles_total{operation="DescribeInstanceTypes",service="EC2"} 1
# HELP tabard_aws_auth_method_info How this process gets credentials; always 1.
# TYPE tabard_aws_auth_method_info gauge
tabard_aws_auth_method_info{method="irsa"} 1
# HELP tabard_aws_client_builds_total AWS configurations that were made.
# TYPE tabard_aws_client_builds_total counter
tabard_aws_client_builds_total{method="irsa",result="success"} 2
tabard_aws_client_builds_total{method="secret",result="SecretNotFound"} 1
tabard_aws_client_builds_total{method="secret",result="error"} 1
# HELP tabard_aws_client_cache_entries AWS configurations in the cache.
# TYPE tabard_aws_client_cache_entries gauge
tabard_aws_client_cache_entries 3
# HELP tabard_aws_credential_expiry_timestamp_seconds When the credentials that were fetched last expire.
# TYPE tabard_aws_credential_expiry_timestamp_seconds gauge
tabard_aws_credential_expiry_timestamp_seconds{method="irsa"} 1.7e+09
# HELP tabard_aws_credential_refresh_total Credentials that were fetched.
# TYPE tabard_aws_credential_refresh_total counter
tabard_aws_credential_refresh_total{code="",method="irsa",result="success"} 1
tabard_aws_credential_refresh_total{code="AccessDenied",method="irsa",result="error"} 1
# HELP tabard_aws_sessions_displaced_total Valid credentials that were evicted, because more are in use than the cache holds.
# TYPE tabard_aws_sessions_displaced_total counter
tabard_aws_sessions_displaced_total 1
`
	var got strings.Builder
	got.WriteString("\n")
	for line := range strings.Lines(scrape(registry)) {
		if !strings.Contains(line, "duration_seconds") {
			got.WriteString(line)
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	const count = `tabard_aws_api_request_duration_seconds_count{operation="DescribeInstanceTypes",service="EC2"} 2`
	if !strings.Contains(scrape(registry), count) {
		t.Errorf("the durations are not counted:\n%s", scrape(registry))
	}
}

func TestNamesBeginWithTheNamespace(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(metric.New("")); err != nil {
		t.Fatal(err)
	}
	if got := scrape(registry); !strings.Contains(got, "\naws_client_cache_entries 0\n") {
		t.Errorf("without a namespace:\n%s", got)
	}
}

func scrape(registry *prometheus.Registry) string {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}
