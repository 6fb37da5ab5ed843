import { useParams } from 'react-router-dom'
import type { Upgrade, Written } from '../api/types'
import { useRead } from '../api/useRead'
import { useWrite, type Writing } from '../api/useWrite'
import { Frame } from '../shell/Frame'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { count } from '../states/words'
import { Warnings } from '../roles/JudgementView'
import { Approve } from './Approve'
import { ToInstalled } from './Nothing'
import { OneUpgrade } from './OneUpgrade'
import { pathOf } from './words'

export default function UpgradePage() {
  const { ns = '', name = '' } = useParams()
  return <OnePlan key={`${ns}/${name}`} ns={ns} name={name} />
}

function OnePlan({ ns, name }: { ns: string; name: string }) {
  const { data, problem, loading, retry } = useRead<Upgrade>(`installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}/upgrade`)
  // The write is of the page: another plan that comes meanwhile must not forget it.
  const writing = useWrite<Written>()
  const lookAgain = () => {
    if (writing.busy) return
    writing.forget()
    retry()
  }
  return (
    <Frame
      way={[{ name: 'Installed', to: '/installed' }, { name: `${ns}/${name}`, to: pathOf({ namespace: ns, subscription: name }) }, { name: 'Upgrade' }]}
      title={`Upgrade of ${name}`}
      isBusy={loading}
    >
      {data && problem && <Stale problem={problem} retry={lookAgain} />}
      {data && <Plan upgrade={data} ns={ns} name={name} lookAgain={lookAgain} writing={writing} />}
      {!data && (problem ? <ProblemState problem={problem} retry={retry} link={<ToInstalled problem={problem} />} /> : <Loading what="the plan and the check of its roles" />)}
    </Frame>
  )
}

interface PlanProps { upgrade: Upgrade; ns: string; name: string; lookAgain: () => void; writing: Writing<Written> }

function Plan({ upgrade, ns, name, lookAgain, writing }: PlanProps) {
  const { judgements, plan, warnings, digest, verdict, accept } = upgrade
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
      {/* A risk that was taken is taken no more when the check says another one. */}
      <Approve
        key={`${plan} ${digest} ${verdict} ${accept}`}
        upgrade={upgrade}
        ns={ns}
        name={name}
        lookAgain={lookAgain}
        writing={writing}
      />
    </>
  )
}
