package s3_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// plainly starts a local AWS without TLS and connects to it.
func plainly(t *testing.T) (*awstest.Lab, net.Conn) {
	t.Helper()
	server := start(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.PlainURL(), "http://"))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return server, conn
}

// answered reads an answer and wants a status and a text in it.
func answered(t *testing.T, conn net.Conn, status int, says string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if answer.StatusCode != status || !strings.Contains(string(text), says) {
		t.Errorf("answered %d %.300s, want %d with %q", answer.StatusCode, text, status, says)
	}
}

// TestOddRequestsAreAnswered writes requests that no client library would send,
// and asks once more in the ordinary way.
func TestOddRequestsAreAnswered(t *testing.T) {
	const put = "PUT /docs/a HTTP/1.1\r\nHost: localhost\r\n"
	for name, c := range map[string]struct {
		request string
		// closes says that the client sends no more.
		closes bool
		status int
		says   string
	}{
		"5 GB are refused before they are sent":      {put + "Content-Length: 5368709120\r\n\r\n", false, 400, "<Code>EntityTooLarge</Code>"},
		"a body that is shorter than it says":        {put + "Content-Length: 100\r\n\r\nshort", true, 400, "<Code>IncompleteBody</Code>"},
		"chunks that end early":                      {put + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe", true, 400, "<Code>IncompleteBody</Code>"},
		"chunks that are none":                       {put + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", true, 400, "<Code>IncompleteBody</Code>"},
		"two lengths":                                {put + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", false, 400, ""},
		"a length that is none":                      {put + "Content-Length: -1\r\n\r\n", false, 400, ""},
		"a key that is no UTF-8":                     {"GET /docs/%FF HTTP/1.1\r\nHost: localhost\r\n\r\n", false, 400, "<Code>InvalidURI</Code>"},
		"a key that is not encoded well":             {"GET /docs/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", false, 400, ""},
		"headers without end":                        {put + "X-Bomb: " + strings.Repeat("x", 256<<10), false, 431, ""},
		"very many headers":                          {put + strings.Repeat("X-Bomb: x\r\n", 20<<10), false, 431, ""},
		"chunked upload that is longer than it says": {put + "X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\nX-Amz-Decoded-Content-Length: 2\r\nContent-Length: 15\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false, 400, "<Code>IncompleteBody</Code>"},
	} {
		t.Run(name, func(t *testing.T) {
			server, conn := plainly(t)
			if _, err := io.WriteString(conn, c.request); err != nil {
				t.Fatalf("write: %v", err)
			}
			if tcp, ok := conn.(*net.TCPConn); ok && c.closes {
				if err := tcp.CloseWrite(); err != nil {
					t.Fatalf("close: %v", err)
				}
			}
			answered(t, conn, c.status, c.says)
			if got := anonymously(t, server, server.PlainURL()+"/"); got != 403 {
				t.Errorf("an ordinary request afterwards: status %d, want 403", got)
			}
		})
	}
}

// TestAnEndlessUploadIsCutOff sends chunks until the server has enough.
func TestAnEndlessUploadIsCutOff(t *testing.T) {
	_, conn := plainly(t)
	if _, err := io.WriteString(conn, "PUT /docs/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"); err != nil {
		t.Fatalf("write: %v", err)
	}
	chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	sent := make(chan int)
	go func() {
		n := 0
		for range 1024 {
			if _, err := io.WriteString(conn, chunk); err != nil {
				break
			}
			n++
		}
		sent <- n
	}()
	answered(t, conn, 400, "<Code>EntityTooLarge</Code>")
	_ = conn.Close() // stops the sender
	if n := <-sent; n >= 1024 {
		t.Errorf("the server took %d MiB", n)
	}
}
