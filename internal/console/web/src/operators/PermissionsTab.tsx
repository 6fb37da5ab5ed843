import { useSearchParams } from 'react-router-dom'
import { Alert, Content, Stack, Title, ToggleGroup, ToggleGroupItem } from '@patternfly/react-core'
import type { Operator, Permissions } from '../api/types'
import { CodeText } from '../states/CodeText'
import { sentence } from '../states/words'
import { Requests } from './Requests'

export function PermissionsTab({ operator }: { operator: Operator }) {
  const permissions = operator.chosen?.permissions
  if (!permissions?.known) return <NotStated permissions={permissions} />
  return (
    <Stack hasGutter>
      <p className="tabard-breaks">{originOf(permissions)}</p>
      {permissions.incomplete && (
        <Alert variant="warning" isInline component="h2" title="This is not all: a part could not be read">
          {permissions.why && <p className="tabard-breaks">{sentence(permissions.why)}</p>}
        </Alert>
      )}
      <Faults permissions={permissions} />
      {permissions.asksNothing ? <p>The author declares that the operator asks for nothing of the cloud.</p> : <Asked permissions={permissions} />}
      {permissions.digest && <p className="tabard-small tabard-breaks">Digest of what is asked for: <code>{permissions.digest}</code></p>}
    </Stack>
  )
}

function Asked({ permissions }: { permissions: Permissions }) {
  const [params, setParams] = useSearchParams()
  const json = params.get('view') === 'json' && permissions.policy !== undefined
  const show = (view: string) => setParams((old) => {
    const next = new URLSearchParams(old)
    if (view === '') next.delete('view')
    else next.set('view', view)
    return next
  })
  return (
    <>
      {permissions.policy !== undefined && (
        <ToggleGroup aria-label="How the permissions are shown">
          <ToggleGroupItem text="Sentences" isSelected={!json} onChange={() => show('')} />
          <ToggleGroupItem text="JSON" isSelected={json} onChange={() => show('json')} />
        </ToggleGroup>
      )}
      {json ? <CodeText text={permissions.policy ?? ''} name="the policy" /> : <Requests requests={permissions.requests} />}
    </>
  )
}

// NotStated does not say that nothing is needed: nobody but the author knows.
function NotStated({ permissions }: { permissions?: Permissions }) {
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">Not stated by the author</Title>
      <p className="tabard-breaks">
        What this version asks of the cloud is not known. {sentence(permissions?.why ?? '')} Read the author&#39;s documentation
        before you give it a role.
      </p>
      {permissions && <Faults permissions={permissions} />}
      {permissions && permissions.instructions.length > 0 && (
        <>
          <Title headingLevel="h2">The author&#39;s instructions (not evaluated)</Title>
          {permissions.instructions.map((text, n) => <pre key={n} className="tabard-pre" tabIndex={0}>{text}</pre>)}
        </>
      )}
    </Stack>
  )
}

function Faults({ permissions: { findings } }: { permissions: Permissions }) {
  if (findings.length === 0) return null
  return (
    <Alert variant="warning" isInline component="h2" title="What the author states has faults">
      <Content component="ul">
        {findings.map(({ object, message }, n) => <li key={n} className="tabard-breaks">{object ? `${object}: ${message}` : message}</li>)}
      </Content>
    </Alert>
  )
}

const sources: Record<string, string> = {
  requests: 'files that were given',
  annotation: 'an annotation of the version',
  bundle: 'the bundle of the version',
  manifests: 'the manifests of the bundle',
  live: 'the CredentialsRequests in the cluster',
}

const certainties: Record<string, string> = {
  given: 'The person who asks gave it.',
  declared: 'The author declares it; nobody has tried whether it is enough.',
  observed: 'It was seen in the cluster.',
}

function originOf({ source = '', certainty = '' }: Permissions): string {
  const read = source ? `Source: ${sources[source] ?? source}.` : ''
  return `${read} ${certainties[certainty] ?? sentence(certainty)}`.trim()
}
