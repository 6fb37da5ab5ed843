import { Link, useParams } from 'react-router-dom'
import { Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { Upgrade } from '../api/types'
import { useRead } from '../api/useRead'
import { PageTitle } from '../shell/PageTitle'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { count } from '../states/words'
import { Warnings } from '../roles/JudgementView'
import { Approve } from './Approve'
import { OneUpgrade } from './OneUpgrade'
import { pathOf } from './words'

export default function UpgradePage() {
  const { ns = '', name = '' } = useParams()
  return <OnePlan key={`${ns}/${name}`} ns={ns} name={name} />
}

function OnePlan({ ns, name }: { ns: string; name: string }) {
  const { data, problem, loading, retry } = useRead<Upgrade>(`installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}/upgrade`)
  const install = pathOf({ namespace: ns, subscription: name })
  return (
    <PageSection>
      <Stack hasGutter aria-busy={loading}>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            <BreadcrumbItem><Link to="/installed">Installed</Link></BreadcrumbItem>
            <BreadcrumbItem className="tabard-breaks"><Link to={install}>{ns}/{name}</Link></BreadcrumbItem>
            <BreadcrumbItem isActive>Upgrade</BreadcrumbItem>
          </Breadcrumb>
        </StackItem>
        <StackItem><PageTitle title={`Upgrade of ${name}`} /></StackItem>
        {data && problem && <Stale problem={problem} retry={retry} />}
        {data && <Plan upgrade={data} ns={ns} name={name} lookAgain={retry} />}
        {!data && (problem ? <ProblemState problem={problem} retry={retry} /> : <Loading what="the plan and the check of its roles" />)}
      </Stack>
    </PageSection>
  )
}

interface PlanProps { upgrade: Upgrade; ns: string; name: string; lookAgain: () => void }

function Plan({ upgrade, ns, name, lookAgain }: PlanProps) {
  const { judgements, plan, warnings, command } = upgrade
  const installs = judgements.filter(({ from }) => !from).length
  const upgrades = judgements.length - installs
  const will = [
    upgrades > 0 && `upgrade ${count(upgrades, 'operator', 'operators')}`,
    installs > 0 && `install ${count(installs, 'operator', 'operators')}`,
  ].filter(Boolean).join(' and ')
  return (
    <>
      <p className="tabard-breaks">The plan {plan} will {will || 'change nothing'}{judgements.length > 1 && ', all at once'}.</p>
      <Warnings warnings={warnings} level="h2" />
      {judgements.map((judgement) => <OneUpgrade key={judgement.csv} judgement={judgement} />)}
      <Approve key={`${plan} ${upgrade.digest}`} upgrade={upgrade} ns={ns} name={name} lookAgain={lookAgain} />
      <Command command={command} label="The command that approves the same" />
    </>
  )
}
