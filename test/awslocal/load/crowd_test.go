package load_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// orders are what the second process is told to do, in JSON in its environment.
type orders struct {
	// Server is the address, Object a URL that reads an object, Content what is
	// in it.
	Server, Object, Content string
	// Idle connections have made one request each and make no more. Active ones
	// read the object as fast as they are answered. Liars promise a body of
	// 64 MiB each and send a kilobyte of it.
	Idle, Active, Liars int
}

// report is what it tells when its connections stand, and again when it is done.
type report struct {
	Idle, Active, Liars int
	// Answers are those of the active connections that were right, Wrong those
	// that were not, and Failure the first of them.
	Answers, Wrong int64
	Failure        string
}

const ordersVariable = "TABARD_AWSLOCALLOAD_ORDERS"

// TestMain is also where the second process begins: it is this program again.
func TestMain(m *testing.M) {
	text := os.Getenv(ordersVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := (&crowd{orders: o}).run(context.Background(), os.Stdin, os.Stdout); err != nil { //nolint:forbidigo // a process has no caller
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crowd is the second process.
type crowd struct {
	orders  orders
	answers atomic.Int64
	wrong   atomic.Int64
	failure atomic.Pointer[string]
	done    atomic.Bool
}

// run opens all connections, reports, goes on until stdin ends, and reports.
func (c *crowd) run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	var held []net.Conn
	defer func() {
		for _, conn := range held {
			_ = conn.Close() // the process ends anyway
		}
	}()
	var r report
	for range c.orders.Idle {
		conn, err := idle(ctx, c.orders.Server)
		if err != nil {
			return fmt.Errorf("idle connection %d: %w", r.Idle, err)
		}
		held = append(held, conn)
		r.Idle++
	}
	for range c.orders.Liars {
		conn, err := lie(ctx, c.orders.Server)
		if err != nil {
			return fmt.Errorf("lying connection %d: %w", r.Liars, err)
		}
		held = append(held, conn)
		r.Liars++
	}
	var active sync.WaitGroup
	for range c.orders.Active {
		conn, err := dial(ctx, c.orders.Server)
		if err != nil {
			return fmt.Errorf("active connection %d: %w", r.Active, err)
		}
		held = append(held, conn)
		r.Active++
		active.Go(func() { c.work(conn) })
	}
	if err := json.NewEncoder(stdout).Encode(r); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, stdin); err != nil {
		return err
	}
	c.done.Store(true)
	active.Wait()
	r.Answers, r.Wrong = c.answers.Load(), c.wrong.Load()
	if first := c.failure.Load(); first != nil {
		r.Failure = *first
	}
	return json.NewEncoder(stdout).Encode(r)
}

// work reads the object over one connection, again and again.
func (c *crowd) work(conn net.Conn) {
	target, err := url.Parse(c.orders.Object)
	if err != nil {
		c.fail(err.Error())
		return
	}
	reader := bufio.NewReader(conn)
	for !c.done.Load() {
		got, err := exchange(conn, reader, "GET "+target.RequestURI()+" HTTP/1.1\r\nHost: "+target.Host+"\r\n\r\n")
		switch {
		case err != nil:
			c.fail(err.Error())
			return
		case got != c.orders.Content:
			c.fail("the object reads " + got)
		default:
			c.answers.Add(1)
		}
	}
}

func (c *crowd) fail(why string) {
	c.wrong.Add(1)
	c.failure.CompareAndSwap(nil, &why)
}

// exchange sends a request and returns the body of the answer.
func exchange(conn net.Conn, reader *bufio.Reader, request string) (string, error) {
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return "", err
	}
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	return string(body), answer.Body.Close()
}

func dial(ctx context.Context, server string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", server)
}

// idle opens a connection that is kept alive after one request.
func idle(ctx context.Context, server string) (net.Conn, error) {
	conn, err := dial(ctx, server)
	if err != nil {
		return nil, err
	}
	_, err = exchange(conn, bufio.NewReader(conn), "GET /_awslocal/health HTTP/1.1\r\nHost: "+server+"\r\n\r\n")
	return conn, err
}

// lie opens a connection that promises more than it sends.
func lie(ctx context.Context, server string) (net.Conn, error) {
	conn, err := dial(ctx, server)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, "PUT /docs/lie HTTP/1.1\r\nHost: "+server+"\r\nContent-Length: 67108864\r\n\r\n"+string(make([]byte, 1024)))
	return conn, err
}
