// Package awslocal is a local AWS for tests, demonstrations and work without a
// network: STS, IAM, S3, EKS and what goes with them, with AWS's own wire formats,
// over TLS with a certificate authority of its own.
//
// It says no. Signatures, tokens, audiences, expiry, trust policies and
// permission policies are judged as AWS judges them, and an operation that it
// does not play is refused by name. What callers asked, who they were and what
// they were answered stands in a journal.
//
//	server, err := awslocal.New(awslocal.Options{})
//	…
//	err = server.Start("127.0.0.1:0")
//	…
//	administrator := server.Administrator("123456789012")
//	// give server.URL(), server.Client() and administrator to any client
//	…
//	issuer, err := server.StartIssuer()
//	…
//	token, err := issuer.Token("shop", "web", "sts.amazonaws.com")
//
// State lives in memory. The certificate authority and the administrators' keys
// outlive the process where Options.Dir names a folder for them, and all the rest
// where RunOptions.State names a file; Admin.Dump and Admin.Load do the same for
// those who keep it themselves.
package awslocal
