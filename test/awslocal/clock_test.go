package awslocal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestCredentialClockExpiresSessionsAndNothingElse(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	token := l.sign(0, l.claims())
	out := must.Get(exchange(t, l, token, nil))(t)
	session := l.as(out.Credentials)
	for _, step := range []struct {
		offset time.Duration
		want   string
	}{{0, ""}, {59 * time.Minute, ""}, {61 * time.Minute, "ExpiredToken"}, {0, ""}} {
		l.Admin().SetCredentialClockOffset(step.offset)
		_, err := sts.NewFromConfig(session).GetCallerIdentity(t.Context(), nil)
		if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, step.want) || (step.want == "") != (got == "") {
			t.Errorf("with the credentials' clock %v ahead the answer is %q, want %q", step.offset, got, step.want)
		}
		if _, err := exchange(t, l, token, nil); err != nil {
			t.Errorf("with the credentials' clock %v ahead a token is refused: %v", step.offset, err)
		}
	}
}
