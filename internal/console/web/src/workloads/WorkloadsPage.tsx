import { useSearchParams } from 'react-router-dom'
import { PageSection, Stack, StackItem, Tab, Tabs, TabTitleText } from '@patternfly/react-core'
import type { Accounts, Pods } from '../api/types'
import { useSession } from '../shell/session'
import { PageTitle } from '../shell/PageTitle'
import { AccountsTable } from './AccountsTable'
import { ListOfWorkloads } from './ListOfWorkloads'
import { NoCluster } from './Nothing'
import { PodsTable } from './PodsTable'
import { accountsList, kindNames, podsList, type Kind } from './words'

export default function WorkloadsPage() {
  const session = useSession()
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem><PageTitle title="Workloads" /></StackItem>
        {session && !session.hasCluster ? <NoCluster /> : <Lists />}
      </Stack>
    </PageSection>
  )
}

function Lists() {
  const [params, setParams] = useSearchParams()
  const active: Kind = params.get('tab') === 'serviceaccounts' ? 'serviceaccounts' : 'pods'
  // The namespace and the search are for both lists. How a ServiceAccount stands is not how its pods do.
  const select = (key: string | number) => setParams((old) => {
    const next = new URLSearchParams(old)
    for (const name of ['tab', 'standing', 'sort', 'page']) next.delete(name)
    if (key !== 'pods') next.set('tab', String(key))
    return next
  })
  return (
    <Tabs activeKey={active} onSelect={(_event, key) => select(key)} mountOnEnter unmountOnExit aria-label="Workloads">
      {(Object.keys(kindNames) as Kind[]).map((kind) => (
        <Tab key={kind} eventKey={kind} title={<TabTitleText>{kindNames[kind]}</TabTitleText>}>
          <div className="tabard-tab">{kind === active && (kind === 'pods' ? <PodsTab /> : <AccountsTab />)}</div>
        </Tab>
      ))}
    </Tabs>
  )
}

function PodsTab() {
  return (
    <ListOfWorkloads<Pods> kind="pods" list={podsList}>
      {(data, query) => <PodsTable items={data.items} query={query} caption="Pods of the namespaces that you may read" />}
    </ListOfWorkloads>
  )
}

function AccountsTab() {
  return (
    <ListOfWorkloads<Accounts> kind="serviceaccounts" list={accountsList}>
      {(data, query) => <AccountsTable items={data.items} query={query} />}
    </ListOfWorkloads>
  )
}
