import { useEffect, useRef } from 'react'
import { Link, useParams } from 'react-router-dom'
import { Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { InstallDetail } from '../api/types'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { InstallDetails } from './InstallDetails'
import { ToInstalled } from './Nothing'
import { useInstallNow } from './useInstallNow'
import { said } from './words'

export default function InstallPage() {
  const { ns = '', name = '' } = useParams()
  // With the key, nothing of one install is shown as another's.
  return <OneInstall key={`${ns}/${name}`} ns={ns} name={name} />
}

function OneInstall({ ns, name }: { ns: string; name: string }) {
  const { install, readAt, problem, silent, retry } = useInstallNow(ns, name)
  useStageNews(install)
  const isGone = problem?.status === 404
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
        {install && !isGone && (
          <>
            {/* A stream that is heard says that nothing has changed, however old the data is. */}
            {(problem || silent) && <Stale readAt={readAt} problem={problem} silent={silent} retry={retry} />}
            <InstallDetails install={install} />
          </>
        )}
        {problem && (isGone || !install) && <ProblemState problem={problem} retry={retry} link={<ToInstalled problem={problem} />} />}
        {!problem && !install && <Loading what="the install" />}
      </Stack>
    </PageSection>
  )
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
