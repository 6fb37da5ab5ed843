import { useEffect, useRef } from 'react'
import { Link, useParams } from 'react-router-dom'
import { Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem } from '@patternfly/react-core'
import { useEvents } from '../api/events'
import type { InstallDetail } from '../api/types'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { InstallDetails } from './InstallDetails'
import { said } from './words'

export default function InstallPage() {
  const { ns = '', name = '' } = useParams()
  // With the key, nothing of one install is shown as another's.
  return <OneInstall key={`${ns}/${name}`} ns={ns} name={name} />
}

function OneInstall({ ns, name }: { ns: string; name: string }) {
  const read = useRead<InstallDetail>(`installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`)
  const live = useEvents<InstallDetail>(`events?${new URLSearchParams({ install: `${ns}/${name}` })}`, 'install')
  const install = newer(read.data, live.data)
  useStageNews(install)
  const problem = live.problem ?? live.lost ?? (live.data ? undefined : read.problem)
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            <BreadcrumbItem><Link to="/installed">Installed</Link></BreadcrumbItem>
            <BreadcrumbItem isActive className="tabard-breaks">{ns}/{name}</BreadcrumbItem>
          </Breadcrumb>
        </StackItem>
        <StackItem><PageTitle title={install?.package ?? name} /></StackItem>
        {/* A stream that is heard says that nothing has changed, however old the data is. */}
        {install && (problem || live.stale) && <Stale readAt={install.readAt} problem={problem} retry={read.retry} />}
        {install && <InstallDetails install={install} />}
        {!install && (read.problem ? <ProblemState problem={read.problem} retry={read.retry} /> : <Loading what="the install" />)}
      </Stack>
    </PageSection>
  )
}

function newer(a?: InstallDetail, b?: InstallDetail): InstallDetail | undefined {
  if (!a || !b) return a ?? b
  return Date.parse(a.readAt) > Date.parse(b.readAt) ? a : b
}

// useStageNews announces that the install came to another stage, and nothing else of what changes.
function useStageNews(install?: InstallDetail) {
  const last = useRef('')
  const news = install ? said(install.stage) : ''
  const key = install ? `${install.stage.n} ${install.stage.state}` : ''
  useEffect(() => {
    if (key === '' || key === last.current) return
    last.current = key
    announce(news)
  }, [key, news])
}
