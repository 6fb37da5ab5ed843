import { useRef } from 'react'
import { useSearchParams } from 'react-router-dom'
import { Alert } from '@patternfly/react-core'
import type { Cluster, Operator } from '../api/types'
import { useRead } from '../api/useRead'
import { OperatorFrame } from '../operators/OperatorFrame'
import { pageOf } from '../operators/words'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { sentence } from '../states/words'
import { InstallWizard } from './InstallWizard'

export default function InstallWizardPage() {
  return (
    <OperatorFrame name="Install" title={(operator) => `Install ${operator}`} isBelow>
      {(operator) => <Body operator={operator} />}
    </OperatorFrame>
  )
}

function Body({ operator }: { operator: Operator }) {
  const [params] = useSearchParams()
  const session = useSession()
  const { data, problem } = useRead<Cluster>(session?.hasCluster ? 'cluster' : '')
  // Without the facts of the cluster, no cloud is first. What is filled in stays while they are read again.
  const isReady = useRef(false)
  if (session && (!session.hasCluster || data || problem)) isReady.current = true
  if (!isReady.current) return <Loading what="the cluster" />
  if (!operator.cannotInstall) return <InstallWizard operator={operator} cloud={data?.cloud} page={pageOf(operator.id, params.get('version'))} />
  return (
    <Alert variant="warning" isInline component="h2" title="It cannot be installed">
      <p className="tabard-breaks">{sentence(operator.cannotInstall)}</p>
      <Command label="What is known of it" command={operator.command} />
    </Alert>
  )
}
