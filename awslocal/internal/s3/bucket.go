package s3

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

var (
	bucketName = pattern.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = pattern.New(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)
)

// reserved are beginnings and ends that names of buckets must not have (Amazon
// S3 user guide, "Bucket naming rules").
var (
	reservedBeginnings = []string{"xn--", "sthree-"}
	reservedEnds       = []string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}
)

// isBucketName says whether a new bucket may have the name.
func isBucketName(name string) bool {
	if !bucketName.MatchString(name) || strings.Contains(name, "..") || net.ParseIP(name) != nil {
		return false
	}
	return !slices.ContainsFunc(reservedBeginnings, func(s string) bool { return strings.HasPrefix(name, s) }) &&
		!slices.ContainsFunc(reservedEnds, func(s string) bool { return strings.HasSuffix(name, s) })
}

// createBucket makes a bucket as S3 does since April 2023: access control lists
// off, all public access blocked.
func (s *Service) createBucket(r *request) (*answer, *fault) {
	name, caller := r.target.bucket, r.Caller.Principal
	if caller.Kind == iampolicy.Anonymous {
		return nil, errAccessDenied
	}
	if !isBucketName(name) {
		return nil, errInvalidBucketName.with("BucketName", name)
	}
	region, f := wantedRegion(r)
	if f != nil {
		return nil, f
	}
	extra := r.conditions()
	if region != globalRegion {
		extra.Set("s3:LocationConstraint", region)
	}
	if f := s.authorize(r, "s3:CreateBucket", r.target.bucketARN(), extra); f != nil {
		return nil, f
	}
	if f := checkBucketOptions(r.HTTP.Header); f != nil {
		return nil, f
	}
	if old := s.buckets[name]; old != nil {
		return recreate(old, caller.AccountID, r.Region)
	}
	s.buckets[name] = &bucket{
		name: name, accountID: caller.AccountID, region: region, created: r.Now,
		block: &PublicAccessBlock{true, true, true, true},
	}
	return created(name, region), nil
}

// recreate answers for a bucket that is there already. In us-east-1, for
// historic reasons, its owner may create it again.
func recreate(b *bucket, accountID, endpoint string) (*answer, *fault) {
	switch {
	case b.accountID != accountID:
		return nil, errBucketAlreadyExists.with("BucketName", b.name)
	case b.region != globalRegion || endpoint != globalRegion:
		return nil, errBucketAlreadyOwned.with("BucketName", b.name)
	}
	return created(b.name, b.region), nil
}

func created(name, region string) *answer {
	a := empty(http.StatusOK)
	a.header.Set("Location", "/"+name)
	if region != globalRegion {
		a.header.Set("Location", "http://"+name+".s3."+partition.Of(region).Domain()+"/")
	}
	return a
}

// wantedRegion reads where the bucket is to be. An endpoint makes buckets in its
// own region and wants that said; us-east-1 makes them anywhere and does not
// want to be named.
func wantedRegion(r *request) (string, *fault) {
	var config createBucketConfiguration
	if len(r.Payload) > 0 {
		if f := parseXML(r.Payload, &config); f != nil {
			return "", f
		}
	}
	switch {
	case config.Tags != nil:
		return "", unsupported("CreateBucket with Tags (PutBucketTagging does it)")
	case config.Location != nil || config.Bucket != nil:
		return "", unsupported("CreateBucket of a directory bucket")
	}
	want := config.LocationConstraint
	if want == "" {
		if r.Region != globalRegion {
			return "", errIllegalLocation
		}
		return globalRegion, nil
	}
	if want == globalRegion || !regionName.MatchString(want) {
		return "", errInvalidLocation.with("LocationConstraint", want)
	}
	if r.Region != globalRegion && r.Region != want {
		return "", errIllegalLocation.saying("The " + want +
			" location constraint is incompatible for the region specific endpoint this request was sent to.")
	}
	return want, nil
}

// checkBucketOptions refuses what this server would have to leave undone.
func checkBucketOptions(header http.Header) *fault {
	if !isACLFree(header, "private") {
		return errBucketACL
	}
	if ownership := header.Get("X-Amz-Object-Ownership"); ownership != "" && ownership != "BucketOwnerEnforced" {
		return unsupported("CreateBucket with object ownership " + ownership)
	}
	if strings.EqualFold(header.Get("X-Amz-Bucket-Object-Lock-Enabled"), "true") {
		return unsupported("CreateBucket with object lock")
	}
	return nil
}

func (s *Service) headBucket(r *request) (*answer, *fault) {
	a := empty(http.StatusOK)
	a.header.Set("X-Amz-Bucket-Region", r.bucket.region)
	a.header.Set("X-Amz-Access-Point-Alias", "false")
	a.header.Set("Content-Type", "application/xml")
	return a, nil
}

func (s *Service) deleteBucket(r *request) (*answer, *fault) {
	if r.bucket.objects.size > 0 {
		return nil, errBucketNotEmpty.with("BucketName", r.bucket.name)
	}
	delete(s.buckets, r.bucket.name)
	return empty(http.StatusNoContent), nil
}

// getBucketLocation answers in every region; us-east-1 has no name here.
func (s *Service) getBucketLocation(r *request) (*answer, *fault) {
	location := r.bucket.region
	if location == globalRegion {
		location = ""
	}
	return document(locationConstraint{Region: location})
}

// listBuckets lists the buckets of the caller's account in all regions.
func (s *Service) listBuckets(r *request) (*answer, *fault) {
	caller := r.Caller.Principal
	if caller.Kind == iampolicy.Anonymous {
		return nil, errAccessDenied
	}
	if f := s.authorize(r, "s3:ListAllMyBuckets", "*", r.conditions()); f != nil {
		return nil, f
	}
	query := r.query
	limit, f := number(query, "max-buckets", 1, 10000, 10000)
	if f != nil {
		return nil, f
	}
	from, f := parseToken(query)
	if f != nil {
		return nil, f
	}
	result := listAllMyBucketsResult{Owner: owner{canonicalID(caller.AccountID)}, Prefix: query.Get("prefix")}
	var names []string
	for name, b := range s.buckets {
		inRegion := !query.Has("bucket-region") || query.Get("bucket-region") == b.region
		if b.accountID == caller.AccountID && inRegion && name > from.last && strings.HasPrefix(name, result.Prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > limit {
		names = names[:limit]
		result.ContinuationToken = mark{last: names[len(names)-1]}.token()
	}
	for _, name := range names {
		b := s.buckets[name]
		result.Buckets.Bucket = append(result.Buckets.Bucket, bucketEntry{name, timestamp(b.created), b.region})
	}
	return document(result)
}
