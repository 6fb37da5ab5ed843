import { useEffect } from 'react'
import { useSearchParams } from 'react-router-dom'
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { announce } from '../shell/announce'
import { Command } from '../states/Command'
import { Partial } from '../states/Partial'
import { About } from './About'
import { InstallButton } from './InstallButton'
import { OperatorFrame } from './OperatorFrame'
import { Overview } from './Overview'
import { PermissionsTab } from './PermissionsTab'
import { VersionsTab } from './VersionsTab'

export default function OperatorPage() {
  return (
    <OperatorFrame name="Operator" title={(operator) => operator} actions={(operator) => <InstallButton operator={operator} />}>
      {(operator, retry) => <Details operator={operator} retry={retry} />}
    </OperatorFrame>
  )
}

function Details({ operator, retry }: { operator: Operator; retry: () => void }) {
  const [params, setParams] = useSearchParams()
  const csv = operator.chosen?.csv
  useEffect(() => {
    if (csv) announce(`This is ${csv}`)
  }, [csv])
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
