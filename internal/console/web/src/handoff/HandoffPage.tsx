import { useEffect, useRef, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router-dom'
import { Alert, Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem, Title } from '@patternfly/react-core'
import type { Cluster, Handoff, HandoffQuestion, Operator } from '../api/types'
import { useAsk } from '../api/useAsk'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { useSession } from '../shell/session'
import { PageTitle } from '../shell/PageTitle'
import { Loading } from '../states/Loading'
import { ProblemAlert } from '../states/ProblemAlert'
import { ProblemState } from '../states/ProblemState'
import { pageOf } from '../operators/words'
import { count } from '../states/words'
import { Answer } from './Answer'
import { Files } from './Files'
import { questionOf, useHandoffForm } from './form'
import { HandoffForm } from './HandoffForm'

export default function HandoffPage() {
  const { id = '' } = useParams()
  return <OneHandoff key={id} id={id} />
}

function OneHandoff({ id }: { id: string }) {
  const [params] = useSearchParams()
  const version = params.get('version')
  const path = `operators/${encodeURIComponent(id)}`
  const { data, problem, retry } = useRead<Operator>(version ? `${path}?version=${encodeURIComponent(version)}` : path)
  const title = data ? `Hand-off for ${data.chosen?.displayName || data.package}` : 'Hand-off'
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            <BreadcrumbItem><Link to="/operators">Operators</Link></BreadcrumbItem>
            <BreadcrumbItem className="tabard-breaks"><Link to={pageOf(id, version)}>{data?.package ?? id}</Link></BreadcrumbItem>
            <BreadcrumbItem isActive>Hand-off</BreadcrumbItem>
          </Breadcrumb>
        </StackItem>
        <StackItem><PageTitle title={title} /></StackItem>
        {data && <Body operator={data} />}
        {!data && (problem ? <ProblemState problem={problem} retry={retry} /> : <Loading what="the operator" />)}
      </Stack>
    </PageSection>
  )
}

function Body({ operator }: { operator: Operator }) {
  const session = useSession()
  const cluster = useRead<Cluster>(session?.hasCluster ? 'cluster' : '')
  const [form, change] = useHandoffForm(operator)
  const { data, problem, busy, ask } = useAsk<Handoff>()
  const files = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!data) return
    announce(`${count(data.files.length, 'file', 'files')} made`)
    files.current?.querySelector('h2')?.focus()
  }, [data])
  const question = questionOf(operator, form)
  // The files that are shown, and those that are downloaded, are of this question.
  const [asked, setAsked] = useState<HandoffQuestion>(question)
  const send = () => {
    setAsked(question)
    void ask('handoffs', question)
  }
  const hasChanged = JSON.stringify(asked) !== JSON.stringify(question)
  return (
    <>
      <p>
        The owner of the cloud account makes the role, without access to the cluster. Make the files here, send them, and get the
        role&#39;s ARN back. The files have no secret.
      </p>
      <HandoffForm form={form} change={change} busy={busy} hasCluster={session?.hasCluster ?? true} onSend={send} />
      {problem && <ProblemAlert problem={problem} />}
      <div ref={files}>
        {data && (
          <Stack hasGutter>
            <Title headingLevel="h2" tabIndex={-1}>Files for the role {data.roleName}</Title>
            {hasChanged && (
              <Alert variant="info" isInline component="h3" title="The form has changed since">
                <p>These are the files of what was filled in before. Make the files again to have them of what is filled in now.</p>
              </Alert>
            )}
            <Files handoff={data} question={asked} />
          </Stack>
        )}
      </div>
      <Answer operator={operator} namespace={form.namespace} cloud={cluster.data?.cloud} />
    </>
  )
}
