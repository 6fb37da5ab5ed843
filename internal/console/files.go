package console

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// index is the one page of the front end, which shows all others.
const index = "index.html"

// notBuilt is the page of a program without a front end.
const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Tabard</title></head>
<body>
<main>
<h1>This program has no pages</h1>
<p>It was built without the console's front end. The API answers below /api/v1.</p>
<p>With Node.js 20 and npm, these commands build a program with it:</p>
<pre>make console
make build</pre>
</main>
</body>
</html>
`

// page answers with a file of the front end. Any other address is one of its pages.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	isFile := strings.HasPrefix(name, "assets/") || name == "licences.txt"
	if !isFile {
		name = index
	}
	file, err := s.open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isFile:
		s.refuse(w, r, &Problem{Status: http.StatusNotFound, Code: "path", Title: "There is no such file", Detail: "The program may have been replaced by another version: load the page again."})
		return
	case errors.Is(err, fs.ErrNotExist):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, notBuilt)
		return
	case err != nil:
		s.refuse(w, r, problemOf(err))
		return
	}
	defer func() { _ = file.Close() }() // it is in the program
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		// Their names have a digest of what is in them.
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	s.send(w, r, file)
}

// open finds the compressed file of a name.
func (s *Server) open(name string) (fs.File, error) {
	if s.Pages == nil || !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	return s.Pages.Open(name + ".gz")
}

// send sends a compressed file as the browser takes it.
func (s *Server) send(w http.ResponseWriter, r *http.Request, file io.Reader) {
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
	} else {
		plain, err := gzip.NewReader(file)
		if err != nil {
			s.refuse(w, r, problemOf(err))
			return
		}
		file = plain
	}
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, file) // with the browser gone there is nobody to tell
	}
}

// contentType is by the name. The system's own list of types is not asked, since it differs.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	}
	return "text/plain; charset=utf-8"
}
