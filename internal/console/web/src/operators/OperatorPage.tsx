import { useEffect } from 'react'
import { Link, useParams, useSearchParams } from 'react-router-dom'
import { Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem, Tab, Tabs, TabTitleText } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { Partial } from '../states/Partial'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { About } from './About'
import { InstallButton } from './InstallButton'
import { Overview } from './Overview'
import { PermissionsTab } from './PermissionsTab'
import { VersionsTab } from './VersionsTab'

export default function OperatorPage() {
  const { id = '' } = useParams()
  // With the key, nothing of one operator is shown as another's.
  return <OneOperator key={id} id={id} />
}

function OneOperator({ id }: { id: string }) {
  const [params] = useSearchParams()
  const version = params.get('version')
  const path = `operators/${encodeURIComponent(id)}`
  const { data, problem, retry } = useRead<Operator>(version ? `${path}?version=${encodeURIComponent(version)}` : path, { keep: true })
  const csv = data?.chosen?.csv
  useEffect(() => {
    if (csv) announce(`This is ${csv}`)
  }, [csv])

  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            <BreadcrumbItem><Link to="/operators">Operators</Link></BreadcrumbItem>
            <BreadcrumbItem isActive className="tabard-breaks">{data?.package ?? id}</BreadcrumbItem>
          </Breadcrumb>
        </StackItem>
        <StackItem>
          <PageTitle title={data ? nameOf(data) : 'Operator'}>{data && <InstallButton operator={data} />}</PageTitle>
        </StackItem>
        {data && problem && <Stale problem={problem} retry={retry} />}
        {data && <Details operator={data} retry={retry} />}
        {!data && (problem ? <ProblemState problem={problem} retry={retry} /> : <Loading what="the operator" />)}
      </Stack>
    </PageSection>
  )
}

function nameOf(operator: Operator) {
  return operator.chosen?.displayName || operator.package
}

function Details({ operator, retry }: { operator: Operator; retry: () => void }) {
  const [params, setParams] = useSearchParams()
  const tabs = [
    { key: 'overview', name: 'Overview', content: () => <Overview operator={operator} /> },
    { key: 'permissions', name: 'Permissions', content: () => <PermissionsTab operator={operator} /> },
    { key: 'versions', name: 'Versions', content: () => <VersionsTab operator={operator} /> },
  ]
  const active = tabs.find(({ key }) => key === params.get('tab'))?.key ?? 'overview'
  const select = (key: string | number) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.set('tab', String(key))
    return next
  })
  useEffect(() => {
    // On a narrow screen not all tabs are in view.
    document.querySelector('[role=tab][aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [active])
  return (
    <>
      <Partial findings={operator.findings} retry={retry} />
      <About operator={operator} />
      <Tabs activeKey={active} onSelect={(_event, key) => select(key)} mountOnEnter unmountOnExit aria-label="About the operator">
        {tabs.map(({ key, name, content }) => (
          <Tab key={key} eventKey={key} title={<TabTitleText>{name}</TabTitleText>}>
            <div className="tabard-tab">{key === active && content()}</div>
          </Tab>
        ))}
      </Tabs>
      <Command command={operator.command} />
    </>
  )
}
