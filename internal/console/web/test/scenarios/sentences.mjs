// The parts of sentences that the server answers with are shown as sentences.
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const cases = [
  ['the pod is over', 'The pod is over.'],
  ['no', 'No.'],
  ['written by helm: a chart', 'Written by helm: a chart.'],
  ["it's gone; read-only", "It's gone; read-only."],
  ['read-only, it refuses', 'Read-only, it refuses.'],
  ['done?', 'Done?'],
  ['', ''],
  ['Has its role.', 'Has its role.'],
  // Names keep their first letter.
  ['docs/install.md has what comes before', 'docs/install.md has what comes before.'],
  ['explain.md has the codes', 'explain.md has the codes.'],
  ['https://oidc.example.com answers 404', 'https://oidc.example.com answers 404.'],
  ['eks.amazonaws.com/role-arn is empty', 'eks.amazonaws.com/role-arn is empty.'],
  ['arn:aws:iam::111122223333:role/checkout is no role', 'arn:aws:iam::111122223333:role/checkout is no role.'],
  ['sts:AssumeRoleWithWebIdentity is refused', 'sts:AssumeRoleWithWebIdentity is refused.'],
  ['s3 answers', 's3 answers.'],
  ['envFrom is not seen', 'envFrom is not seen.'],
  ['kubectl get pods shows them', 'kubectl get pods shows them.'],
  ['tabard explain pod NAME', 'tabard explain pod NAME.'],
  ['helm', 'helm.'],
  ['helmets are no programs', 'Helmets are no programs.'],
]

export default async function sentences(s) {
  const source = readFileSync(new URL('../../src/states/words.ts', import.meta.url), 'utf8')
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } })
  const { sentence } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`)
  for (const [text, want] of cases) s.expect(JSON.stringify(text), sentence(text), want)
}
