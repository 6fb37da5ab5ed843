package awslocal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func TestCredentialClockExpiresSessionsAndNothingElse(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	token := l.issuer.sign(t, 0, l.issuer.claims())
	out, err := exchange(t, l, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	session := l.as(out.Credentials)
	for _, step := range []struct {
		offset time.Duration
		want   string
	}{{0, ""}, {59 * time.Minute, ""}, {61 * time.Minute, "ExpiredToken"}, {0, ""}} {
		l.server.Admin().SetCredentialClockOffset(step.offset)
		_, err := sts.NewFromConfig(session).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		if got := refusal(err); !strings.HasPrefix(got, step.want) || (step.want == "") != (got == "") {
			t.Errorf("with the credentials' clock %v ahead the answer is %q, want %q", step.offset, got, step.want)
		}
		if _, err := exchange(t, l, token, nil); err != nil {
			t.Errorf("with the credentials' clock %v ahead a token is refused: %v", step.offset, err)
		}
	}
}
