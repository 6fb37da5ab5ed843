package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// client is a program that talks to the console as its pages do.
type client struct {
	*testing.T
	http   *http.Client
	origin string
	csrf   string
}

// open exchanges the code of an address for a session.
func (c *console) open() *client {
	c.Helper()
	address := must.Get(url.Parse(c.Another()))(c)
	out := &client{T: c.T, http: &http.Client{Jar: must.Get(cookiejar.New(nil))(c)}, origin: "http://" + address.Host}
	var opened struct{ CSRF string }
	out.post("session", map[string]string{"code": strings.TrimPrefix(address.Fragment, "code=")}, &opened)
	out.csrf = opened.CSRF
	return out
}

func (c *client) post(path string, body, into any) {
	c.Helper()
	c.want(c.ask(http.MethodPost, path, body), http.StatusOK, into)
}

func (c *client) get(path string, into any) {
	c.Helper()
	c.want(c.ask(http.MethodGet, path, nil), http.StatusOK, into)
}

// tries reads what may not be there yet.
func (c *client) tries(path string, into any) error {
	c.Helper()
	got := c.ask(http.MethodGet, path, nil)
	if got.status != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", path, got.status, got.text)
	}
	return json.Unmarshal(got.text, into)
}

// problem is an answer that is an error.
type problem struct {
	Status              int
	Code, Title, Detail string
	Next                []string
}

// refused posts what has to be refused.
func (c *client) refused(path string, body any) (out problem) {
	c.Helper()
	got := c.ask(http.MethodPost, path, body)
	if got.status == http.StatusOK {
		c.Fatalf("%s was not refused: %s", path, got.text)
	}
	must.Do(c, json.Unmarshal(got.text, &out))
	return out
}

// answer is what the console answers with.
type answer struct {
	status int
	text   []byte
}

func (c *client) want(got answer, status int, into any) {
	c.Helper()
	if got.status != status {
		c.Fatalf("the answer is %d, want %d: %s", got.status, status, got.text)
	}
	must.Do(c, json.Unmarshal(got.text, into))
}

func (c *client) ask(method, path string, body any) answer {
	c.Helper()
	text := must.Get(json.Marshal(body))(c)
	request := must.Get(http.NewRequestWithContext(c.Context(), method, c.origin+"/api/v1/"+path, bytes.NewReader(text)))(c)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", c.origin)
	request.Header.Set("X-Tabard-CSRF", c.csrf)
	response, err := c.http.Do(request)
	must.Do(c, err)
	defer func() { _ = response.Body.Close() }()
	return answer{response.StatusCode, must.Get(io.ReadAll(response.Body))(c)}
}

// The commands of the page, and those of the help, start a console that shows operators.
func TestThePageIsTyped(t *testing.T) {
	c := shared(t)
	t.Setenv("KUBECONFIG", c.Kubeconfig(c.Config))
	page := string(must.Get(os.ReadFile(filepath.Join(root, "docs", "console.md")))(t))
	help := string(must.Get(exec.CommandContext(t.Context(), testkit.Tabard(t), "console", "--help").Output())(t))
	commands := regexp.MustCompile(`(?m)^ *tabard console( .*)?$`).FindAllString(page+help, -1)
	if len(commands) < 4 {
		t.Fatalf("the page and the help have the commands %q", commands)
	}
	t.Chdir(root)
	for _, command := range commands {
		words := strings.Fields(command)
		if strings.HasPrefix(words[len(words)-1], "[") {
			continue // the line with the usage
		}
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			if strings.Contains(command, " catalog.json") {
				t.Chdir("examples/operators")
			}
			var got struct{ Items []struct{ Package string } }
			start(t, words[2:]...).open().get("operators", &got)
			if len(got.Items) != 3 {
				t.Errorf("the list has %v, want three packages", got.Items)
			}
		})
	}
}
