import { useEffect, useRef, useState } from 'react'
import { Alert, Stack, Title } from '@patternfly/react-core'
import type { Cluster, Handoff, HandoffQuestion, Operator } from '../api/types'
import { useAsk } from '../api/useAsk'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { OperatorFrame } from '../operators/OperatorFrame'
import { useSession } from '../shell/session'
import { ProblemAlert } from '../states/ProblemAlert'
import { count } from '../states/words'
import { Answer } from './Answer'
import { Files } from './Files'
import { questionOf, useHandoffForm } from './form'
import { HandoffForm } from './HandoffForm'

export default function HandoffPage() {
  return (
    <OperatorFrame name="Hand-off" title={(operator) => `Hand-off for ${operator}`} isBelow>
      {(operator) => <Body operator={operator} />}
    </OperatorFrame>
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
