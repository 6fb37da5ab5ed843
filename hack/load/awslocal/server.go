package awslocal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/tabard-dev/tabard/hack/load/measure"
)

const (
	account = "123456789012"
	region  = "us-east-1"
	bucket  = "load"
)

// server is a process that is measured.
type server struct {
	name, url string
	program   *measure.Program
	folder    string
	keys      aws.Credentials
}

func startTabard(ctx context.Context, s settings) (*server, error) {
	port, err := measure.Port()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return nil, err
	}
	one := &server{name: "tabard awslocal", url: "http://127.0.0.1:" + port, folder: folder}
	command := exec.CommandContext(ctx, s.tabard, "awslocal", "--listen", "", "--listen-plain", "127.0.0.1:"+port, "--dir", folder, "--account", account, "--roles-per-account", strconv.Itoa(max(1000, s.roles+2)), "--log-level", "error")
	if err := one.start(ctx, command); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "administrators.json"))
	if err != nil {
		one.stop()
		return nil, err
	}
	var keys map[string]aws.Credentials
	if err := json.Unmarshal(text, &keys); err != nil {
		one.stop()
		return nil, err
	}
	one.keys = keys[account]
	return one, nil
}

func startMoto(ctx context.Context, _ settings) (*server, error) {
	port, err := measure.Port()
	if err != nil {
		return nil, err
	}
	one := &server{name: "moto_server", url: "http://127.0.0.1:" + port, keys: aws.Credentials{AccessKeyID: "AKIAEXAMPLEEXAMPLE00", SecretAccessKey: "none"}}
	return one, one.start(ctx, exec.CommandContext(ctx, "moto_server", "-H", "127.0.0.1", "-p", port))
}

// start runs the program and waits for its first answer.
func (s *server) start(ctx context.Context, command *exec.Cmd) (err error) {
	command.Env = append(os.Environ(), "MOTO_ACCOUNT_ID="+account)
	if s.program, err = measure.Start(command); err != nil {
		return err
	}
	_, port, _ := strings.Cut(s.url, "127.0.0.1:")
	err = s.program.Await(ctx, time.Minute, s.name+" listens", func() bool { return measure.Listens(ctx, port) })
	if err != nil {
		s.stop()
	}
	return err
}

// stop ends the process and removes what it left.
func (s *server) stop() {
	s.program.Stop()
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

func (s *server) credentials() aws.CredentialsProvider {
	return credentials.StaticCredentialsProvider{Value: s.keys}
}

func (s *server) iam() *iam.Client {
	return iam.New(iam.Options{Region: region, BaseEndpoint: &s.url, Credentials: s.credentials()})
}

func (s *server) s3() *s3.Client {
	return s3.New(s3.Options{Region: region, BaseEndpoint: &s.url, Credentials: s.credentials(), UsePathStyle: true})
}

// fill makes roles and objects.
func (s *server) fill(ctx context.Context, of settings) error {
	roles, objects := s.iam(), s.s3()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(of.clients)
	trust := aws.String(trusting(`{"AWS":"`+account+`"}`, "sts:AssumeRole", ""))
	allow := aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::load/*"}]}`)
	for i := range of.roles {
		group.Go(func() error {
			name := aws.String(fmt.Sprintf("role-%06d", i))
			if _, err := roles.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: trust}); err != nil {
				return err
			}
			_, err := roles.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: name, PolicyName: aws.String("read"), PolicyDocument: allow})
			return err
		})
	}
	for i := range of.objects {
		group.Go(func() error {
			body := bytes.Repeat([]byte{byte(i)}, 1024)
			_, err := objects.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(fmt.Sprintf("object-%06d", i)), Body: bytes.NewReader(body)})
			return err
		})
	}
	return group.Wait()
}
