package s3_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestTheSignaturesClockMovesAlone moves the clock of signatures away from the
// client's. The SDK finds the difference in the Date header and signs again.
func TestTheSignaturesClockMovesAlone(t *testing.T) {
	server := start(t)
	before := server.Admin().Now()
	for _, offset := range []time.Duration{16 * time.Minute, -16 * time.Minute} {
		server.Admin().SetSignatureClockOffset(offset)
		_, err := client(server, ours, "us-east-1").ListBuckets(t.Context(), &s3.ListBucketsInput{})
		refused(t, err, http.StatusForbidden, "RequestTimeTooSkewed")
		patient := client(server, ours, "us-east-1", func(o *s3.Options) { o.Retryer = retry.NewStandard() })
		if _, err := patient.ListBuckets(t.Context(), &s3.ListBucketsInput{}); err != nil {
			t.Errorf("%v off, a client that corrects its clock is refused: %v", offset, err)
		}
	}
	server.Admin().SetSignatureClockOffset(0)
	if _, err := client(server, ours, "us-east-1").ListBuckets(t.Context(), &s3.ListBucketsInput{}); err != nil {
		t.Errorf("after the offset was taken back: %v", err)
	}
	if passed := server.Admin().Now().Sub(before); passed > 10*time.Minute || passed < 0 {
		t.Errorf("the server's own clock has moved by %v", passed)
	}
}

func TestPresignedURLsExpireByTheSignaturesClock(t *testing.T) {
	server := start(t)
	c := client(server, ours, "us-east-1")
	bucket(t, c, "docs")
	put(t, c, "docs", "a", "v1")
	for name, tt := range map[string]struct {
		expires, offset time.Duration
		want            int
	}{
		"within its expiry":               {time.Hour, 59 * time.Minute, 200},
		"after its expiry":                {time.Hour, 61 * time.Minute, 403},
		"a week lasts":                    {7 * 24 * time.Hour, 7*24*time.Hour - time.Minute, 200},
		"a week passes":                   {7 * 24 * time.Hour, 7*24*time.Hour + time.Minute, 403},
		"more than a week is no URL":      {7*24*time.Hour + time.Second, 0, 400},
		"a little early is nothing":       {time.Hour, -14 * time.Minute, 200},
		"long before its time is refused": {time.Hour, -16 * time.Minute, 403},
	} {
		t.Run(name, func(t *testing.T) {
			url, err := s3.NewPresignClient(c).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("a")}, s3.WithPresignExpires(tt.expires))
			if err != nil {
				t.Fatalf("presign: %v", err)
			}
			server.Admin().SetSignatureClockOffset(tt.offset)
			defer server.Admin().SetSignatureClockOffset(0)
			if got := anonymously(t, server, url.URL); got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
		})
	}
}
