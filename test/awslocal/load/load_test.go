// Package load_test crowds a local AWS with connections of a second
// process, and demands that it goes on answering rightly within bounded memory.
package load_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	wantIdle   = 5000
	wantActive = 500
	wantLiars  = 100
	// spare are the files that a process needs besides its connections.
	spare = 200
	// maxMemory is what this process, which is server and client at once, may
	// have in memory; what the liars promise would be 6.4 GB.
	maxMemory = 768 << 20
)

func TestACrowdOfConnectionsStarvesNobody(t *testing.T) {
	server, client := start(t)
	ctx := t.Context()
	object := &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("busy")}
	if _, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: object.Bucket, Key: object.Key, Body: strings.NewReader("busy")}); err != nil {
		t.Fatalf("put: %v", err)
	}
	signed, err := s3.NewPresignClient(client).PresignGetObject(ctx, object)
	if err != nil {
		t.Fatalf("presign: %v", err)
	}
	want := orders{
		Server: strings.TrimPrefix(server.PlainURL(), "http://"), Object: signed.URL, Content: "busy",
		Idle: idleConnections(t), Active: wantActive, Liars: wantLiars,
	}
	second := startCrowd(t, want)
	stands := second.report(t)
	if stands.Idle != want.Idle || stands.Active != want.Active || stands.Liars != want.Liars {
		t.Fatalf("the second process holds %+v, want %+v", stands, want)
	}
	for i := range 10 {
		key, content := fmt.Sprintf("ours/%d", i), fmt.Sprintf("content %d", i)
		if _, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: object.Bucket, Key: &key, Body: strings.NewReader(content)}); err != nil {
			t.Fatalf("put %s: %v", key, err)
		}
		if got := read(t, client, key); got != content {
			t.Fatalf("%s reads %q, want %q", key, got, content)
		}
	}
	memory := residentMemory(t)
	if memory > maxMemory {
		t.Errorf("%d MiB are in memory, want at most %d", memory>>20, maxMemory>>20)
	}
	second.stop(t)
	end := second.report(t)
	if end.Wrong != 0 || end.Answers < wantActive {
		t.Errorf("of the crowd's requests %d were answered rightly and %d not: %s", end.Answers, end.Wrong, end.Failure)
	}
	t.Logf("%d idle, %d active and %d lying connections; %d answers to the crowd; %d MiB in memory", end.Idle, end.Active, end.Liars, end.Answers, memory>>20)
}

// start runs a local AWS with a bucket, and a client of it.
func start(t *testing.T) (*awslocal.Server, *s3.Client) {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{})
	if err != nil {
		t.Fatalf("awslocal: %v", err)
	}
	if err := server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatalf("start: %v", err)
	}
	// The server has been at work for a while: its journal is full.
	for range 10_000 {
		server.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/docs/old", nil))
	}
	if entries := len(server.Admin().Journal()); entries != 10_000 {
		t.Fatalf("the journal has %d entries", entries)
	}
	t.Cleanup(func() {
		// The crowd's connections need not end by themselves.
		closing, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		cancel()
		_ = server.Close(closing)
	})
	keys := server.Administrator(awslocal.DefaultAccount)
	client := s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.PlainURL()), UsePathStyle: true, Retryer: aws.NopRetryer{},
		HTTPClient:  &http.Client{Transport: awstest.PlainBodies(http.DefaultTransport)},
		Credentials: credentials.NewStaticCredentialsProvider(keys.AccessKeyID, keys.SecretAccessKey, ""),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("docs")}); err != nil {
		t.Fatalf("create the bucket: %v", err)
	}
	return server, client
}

func read(t *testing.T, client *s3.Client, key string) string {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: &key})
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	if err := out.Body.Close(); err != nil {
		t.Fatalf("close %s: %v", key, err)
	}
	return string(content)
}

// idleConnections is how many idle connections the limit of open files allows,
// at most wantIdle. Go raises the limit as far as it may by itself.
func idleConnections(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatalf("reading the limit of open files: %v", err)
	}
	room := int(min(limit.Cur, 1<<20)) - wantActive - wantLiars - spare
	if room < wantIdle {
		t.Logf("the limit of open files is %d: only %d idle connections are held", limit.Cur, room)
	}
	if room < 1 {
		t.Fatalf("the limit of open files, %d, leaves room for no idle connection", limit.Cur)
	}
	return min(room, wantIdle)
}

// residentMemory is how much of this process is in memory.
func residentMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatalf("reading this process's size: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(text)[0])
			if err != nil {
				t.Fatalf("VmRSS is %q", text)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("the kernel tells no VmRSS")
	return 0
}

// second is the second process, as its parent sees it.
type second struct {
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func startCrowd(t *testing.T, o orders) *second {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatalf("orders: %v", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatalf("this program: %v", err)
	}
	s := &second{}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), ordersVariable+"="+string(text))
	command.Stderr = &s.stderr
	if s.stdin, err = command.StdinPipe(); err != nil {
		t.Fatalf("pipe: %v", err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	s.stdout = bufio.NewReader(stdout)
	if err := command.Start(); err != nil {
		t.Fatalf("start the second process: %v", err)
	}
	t.Cleanup(func() { _ = command.Wait() })
	return s
}

// report waits for the process's next report.
func (s *second) report(t *testing.T) report {
	t.Helper()
	line, err := s.stdout.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the second process has ended: %v\n%s", err, s.stderr.String())
	}
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("report %s: %v", line, err)
	}
	return r
}

// stop tells the process that it is enough.
func (s *second) stop(t *testing.T) {
	t.Helper()
	if err := s.stdin.Close(); err != nil {
		t.Fatalf("stop the second process: %v", err)
	}
}
