import { useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import { PageSection, Stack, StackItem, Tab, Tabs, TabTitleText } from '@patternfly/react-core'
import { PageTitle } from '../shell/PageTitle'
import { DecodeTab } from './DecodeTab'
import { noPolicy, PolicyTab } from './PolicyTab'

// TryPage needs no cluster. What is pasted stays in the page: the address has the tab alone.
export default function TryPage() {
  const [params, setParams] = useSearchParams()
  const [text, setText] = useState('')
  const [policy, setPolicy] = useState(noPolicy)
  const tabs = [
    { key: 'decode', name: 'Decode an error', content: () => <DecodeTab text={text} onChange={setText} /> },
    { key: 'policy', name: 'Check a policy', content: () => <PolicyTab policy={policy} onChange={setPolicy} /> },
  ]
  const active = tabs.find(({ key }) => key === params.get('tab'))?.key ?? 'decode'
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem><PageTitle title="Try" /></StackItem>
        <Tabs activeKey={active} onSelect={(_event, key) => setParams(key === 'decode' ? {} : { tab: String(key) })} mountOnEnter unmountOnExit aria-label="What to try">
          {tabs.map(({ key, name, content }) => (
            <Tab key={key} eventKey={key} title={<TabTitleText>{name}</TabTitleText>}>
              <div className="tabard-tab">{key === active && content()}</div>
            </Tab>
          ))}
        </Tabs>
      </Stack>
    </PageSection>
  )
}
