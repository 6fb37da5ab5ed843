package conformance_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var commandLineIAM = map[string]attempt{
	"a role is written and read": func(t *testing.T, w *world) {
		made := w.answers(t, nil, "iam", "create-role", "--role-name", "written", "--path", "/cli/", "--assume-role-policy-document", userTrust,
			"--description", "für alle & <jeden>", "--max-session-duration", "7200", "--tags", "Key=team,Value=a b+c", "--query", "Role.Arn", "--output", "text")
		equal(t, made, role("cli/written"))
		read := w.answers(t, nil, "iam", "get-role", "--role-name", "written", "--output", "text",
			"--query", "Role.[Description, MaxSessionDuration, Tags[0].Value, AssumeRolePolicyDocument.Statement[0].Principal.AWS]")
		equal(t, read, strings.Join([]string{"für alle & <jeden>", "7200", "a b+c", administrator}, "\t"))
		w.answers(t, nil, "iam", "delete-role", "--role-name", "written")
	},
	"roles come in pages": func(t *testing.T, w *world) {
		w.pages(t, "ListRoles", "Roles[].RoleName", "page-", "iam", "list-roles", "--path-prefix", "/pages/")
	},
	"policies come in pages": func(t *testing.T, w *world) {
		w.pages(t, "ListPolicies", "Policies[].PolicyName", "page-", "iam", "list-policies", "--scope", "Local", "--path-prefix", "/pages/")
	},
	// The role is made once the waiting command has asked for it in vain.
	"a role is waited for": func(t *testing.T, w *world) {
		w.awaiting(t, "GetRole", "NoSuchEntity", func() error {
			_, stderr := w.aws(t, nil, "iam", "wait", "role-exists", "--role-name", "awaited")
			if stderr != "" {
				return errors.New(stderr)
			}
			return nil
		}, func() {
			w.answers(t, nil, "iam", "create-role", "--role-name", "awaited", "--assume-role-policy-document", userTrust)
		})
	},
	"a role that is missing is NoSuchEntity": func(t *testing.T, w *world) {
		w.refuses(t, nil, "NoSuchEntity", "iam", "get-role", "--role-name", "none")
	},
	"a call without permission is AccessDenied": func(t *testing.T, w *world) {
		w.refuses(t, w.assume(t), "AccessDenied", "iam", "get-role", "--role-name", "pod")
	},
}

// pages asks for a list in pages of ten, and demands 25 names in three answers.
func (w *world) pages(t *testing.T, operation, query, prefix string, arguments ...string) {
	t.Helper()
	var names []string
	answered := w.count(operation, func() {
		text := w.answers(t, nil, append(arguments, "--page-size", "10", "--query", query)...)
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	})
	if len(names) != 25 || names[0] != prefix+"00" || names[24] != prefix+"24" || answered != 3 {
		t.Errorf("%d answers with %d names: %v", answered, len(names), names)
	}
}

var commandLineS3 = map[string]attempt{
	"an object comes back as it was written": func(t *testing.T, w *world) {
		file := w.Write("body", "hello from the command line")
		w.answers(t, nil, "s3api", "put-object", "--bucket", "conformance", "--key", "dir/a b+é", "--body", file, "--metadata", "team=a")
		w.answers(t, nil, "s3api", "get-object", "--bucket", "conformance", "--key", "dir/a b+é", "--checksum-mode", "ENABLED", file+".got")
		equal(t, w.read(t, "body.got"), "hello from the command line")
	},
	"a range of an object is read": func(t *testing.T, w *world) {
		file := w.Write("range", "0123456789")
		w.answers(t, nil, "s3api", "put-object", "--bucket", "conformance", "--key", "range", "--body", file)
		w.answers(t, nil, "s3api", "get-object", "--bucket", "conformance", "--key", "range", "--range", "bytes=2-4", file+".got")
		equal(t, w.read(t, "range.got"), "234")
	},
	"objects come in pages": func(t *testing.T, w *world) {
		w.pages(t, "ListObjectsV2", "Contents[].Key", "page ", "s3api", "list-objects-v2", "--bucket", "pages")
	},
	// Where nobody says otherwise, this one signs URLs for us-east-1 in the old
	// way, which S3 takes for old buckets only.
	"a presigned URL reads an object": func(t *testing.T, w *world) {
		modern := map[string]string{"AWS_CONFIG_FILE": w.Write("modern", "[default]\ns3 =\n  signature_version = s3v4\n")}
		url := w.answers(t, modern, "s3", "presign", "s3://pages/page 07", "--expires-in", "60")
		if status, body := w.ask(t, http.MethodGet, url, "", nil); status != http.StatusOK || body != "x" {
			t.Errorf("the URL %s is answered %d %s", url, status, body)
		}
		if status, _ := w.ask(t, http.MethodGet, strings.Replace(url, "page%2007", "page%2008", 1), "", nil); status != http.StatusForbidden {
			t.Errorf("the URL for another object is answered %d", status)
		}
	},
	"a bucket is waited for": func(t *testing.T, w *world) {
		w.answers(t, nil, "s3api", "create-bucket", "--bucket", "awaited")
		w.answers(t, nil, "s3api", "wait", "bucket-exists", "--bucket", "awaited")
		w.answers(t, nil, "s3api", "delete-bucket", "--bucket", "awaited")
		w.answers(t, nil, "s3api", "wait", "bucket-not-exists", "--bucket", "awaited")
	},
	"an object that is missing is NoSuchKey": func(t *testing.T, w *world) {
		w.refuses(t, nil, "NoSuchKey", "s3api", "get-object", "--bucket", "conformance", "--key", "none", w.Path("nothing"))
	},
	"a file is uploaded and downloaded": func(t *testing.T, w *world) {
		file := w.Write("upload", strings.Repeat("a line of the file\n", 10_000))
		w.answers(t, nil, "s3", "cp", file, "s3://conformance/up/load")
		w.answers(t, nil, "s3", "cp", "s3://conformance/up/load", file+".got")
		equal(t, w.read(t, "upload.got"), w.read(t, "upload"))
	},
	// Of what is there already, nothing is sent a second time.
	"a folder is synchronised": func(t *testing.T, w *world) {
		for _, name := range []string{"source/a.txt", "source/deep/b c.txt"} {
			if err := os.MkdirAll(filepath.Dir(w.Path(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			w.Write(name, name)
		}
		up := []string{"s3", "sync", w.Path("source"), "s3://conformance/sync"}
		equal(t, w.count("PutObject", func() { w.answers(t, nil, up...) }), 2)
		equal(t, w.count("PutObject", func() { w.answers(t, nil, up...) }), 0)
		w.answers(t, nil, "s3", "sync", "s3://conformance/sync", w.Path("target"))
		equal(t, w.read(t, "target/deep/b c.txt"), "source/deep/b c.txt")
		w.answers(t, nil, "s3", "rm", "--recursive", "s3://conformance/sync")
		equal(t, w.answers(t, nil, "s3api", "list-objects-v2", "--no-paginate", "--bucket", "conformance", "--prefix", "sync/", "--query", "KeyCount"), "0")
	},
}

func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(w.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

const clusterARN = "arn:aws:eks:" + region + ":" + account + ":cluster/cluster-a"

var commandLineEKS = map[string]attempt{
	"a cluster is waited for and described": func(t *testing.T, w *world) {
		w.answers(t, nil, "eks", "wait", "cluster-active", "--name", "cluster-a")
		equal(t, w.answers(t, nil, "eks", "describe-cluster", "--name", "cluster-a", "--query", "cluster.[arn, status]", "--output", "text"), clusterARN+"\tACTIVE")
	},
	"a cluster that is missing is ResourceNotFound": func(t *testing.T, w *world) {
		w.refuses(t, nil, "ResourceNotFoundException", "eks", "describe-cluster", "--name", "none")
	},
	"pod identity associations are listed": func(t *testing.T, w *world) {
		equal(t, w.answers(t, nil, "eks", "list-pod-identity-associations", "--cluster-name", "cluster-a", "--query", "associations[].serviceAccount", "--output", "text"), "app")
	},
}

var commandLineEC2 = map[string]attempt{
	"instance types come in pages": func(t *testing.T, w *world) {
		var names []string
		answered := w.count("DescribeInstanceTypes", func() {
			text := w.answers(t, nil, "ec2", "describe-instance-types", "--page-size", "100", "--query", "InstanceTypes[].InstanceType")
			if err := json.Unmarshal([]byte(text), &names); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		})
		if len(names) < 600 || answered != (len(names)+99)/100 {
			t.Errorf("%d answers with %d names", answered, len(names))
		}
		w.refuses(t, nil, "InvalidInstanceType", "ec2", "describe-instance-types", "--instance-types", "m5.tiny")
	},
	"regions are listed": func(t *testing.T, w *world) {
		equal(t, w.answers(t, nil, "ec2", "describe-regions", "--region-names", "eu-west-1", "--query", "Regions[].Endpoint", "--output", "text"),
			"ec2.eu-west-1.amazonaws.com")
	},
}
