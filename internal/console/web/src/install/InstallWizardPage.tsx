import { Link, useParams, useSearchParams } from 'react-router-dom'
import { Alert, Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { Cluster, Operator } from '../api/types'
import { useRead } from '../api/useRead'
import { pageOf } from '../operators/words'
import { PageTitle } from '../shell/PageTitle'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { sentence } from '../states/words'
import { InstallWizard } from './InstallWizard'

export default function InstallWizardPage() {
  const { id = '' } = useParams()
  return <OneWizard key={id} id={id} />
}

function OneWizard({ id }: { id: string }) {
  const [params] = useSearchParams()
  const session = useSession()
  const version = params.get('version')
  const path = `operators/${encodeURIComponent(id)}`
  const operator = useRead<Operator>(version ? `${path}?version=${encodeURIComponent(version)}` : path, { keep: true })
  const cluster = useRead<Cluster>(session?.hasCluster ? 'cluster' : '')
  // Without the facts of the cluster, no cloud is first.
  const isReady = operator.data && session && (!session.hasCluster || cluster.data || cluster.problem)
  const page = pageOf(id, version)
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            <BreadcrumbItem><Link to="/operators">Operators</Link></BreadcrumbItem>
            <BreadcrumbItem className="tabard-breaks"><Link to={page}>{operator.data?.package ?? id}</Link></BreadcrumbItem>
            <BreadcrumbItem isActive>Install</BreadcrumbItem>
          </Breadcrumb>
        </StackItem>
        <StackItem>
          <PageTitle title={operator.data ? `Install ${operator.data.chosen?.displayName || operator.data.package}` : 'Install'} />
        </StackItem>
        {operator.problem && <ProblemState problem={operator.problem} retry={operator.retry} />}
        {isReady && operator.data && <Body operator={operator.data} cloud={cluster.data?.cloud} page={page} />}
        {!isReady && !operator.problem && <Loading what="the operator" />}
      </Stack>
    </PageSection>
  )
}

function Body({ operator, cloud, page }: { operator: Operator; cloud?: string; page: string }) {
  if (!operator.cannotInstall) return <InstallWizard operator={operator} cloud={cloud} page={page} />
  return (
    <Alert variant="warning" isInline component="h2" title="It cannot be installed">
      <p className="tabard-breaks">{sentence(operator.cannotInstall)}</p>
      <Command label="What is known of it" command={operator.command} />
    </Alert>
  )
}
