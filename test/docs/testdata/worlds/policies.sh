# There are policies, cases, a role, and a program that makes cases.
eval "$(tabard lab env)"
(cd "$ROOT" && go run ./examples/workload-role -issuer "$TABARD_ISSUER_URL" -namespace team-a -service-account app \
  -role app -bucket example-app -prefix app)
mkdir policies
echo '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::example-data/*"}]}' > policies/reader.json
sed 's/GetObject/PutObject/' policies/reader.json > policies/writer.json
aws iam get-role --role-name app --query Role.AssumeRolePolicyDocument > trust.json
case='"principal": "arn:aws:iam::123456789012:user/somebody", "resource": "arn:aws:s3:::example-data/k", "resourceAccount": "123456789012"'
echo "[{\"id\": \"read\", \"action\": \"s3:GetObject\", $case, \"identityPolicies\": [$(cat policies/reader.json)]}]" > cases.json
generate-cases() { sed 's/^\[//; s/\]$//' cases.json; }
