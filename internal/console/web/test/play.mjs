// Plays one scenario in Chromium, and prints what is wrong:
//
//   node test/play.mjs NAME < GIVEN
//
// GIVEN is JSON: the address that the console printed, the directory for pictures, and data for the
// scenario. Exit code 0: nothing is wrong; 1: something is.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { chromium } from 'playwright-core'
import { Scenario } from './scenario.mjs'

function browserProgram() {
  const wanted = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = wanted.flatMap((name) => (path.isAbsolute(name) ? [name] : folders.map((folder) => path.join(folder, name)))).find(existsSync)
  if (!found) throw new Error(`found no ${wanted.join(', ')} on the PATH: install Chromium, Debian's package chromium, or name the program with $CHROMIUM`)
  return found
}

const name = process.argv[2]
const given = JSON.parse(await text(process.stdin))
const browser = await chromium.launch({ executablePath: browserProgram(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
const scenario = new Scenario(browser, name, given)
try {
  const { default: play } = await import(`./scenarios/${name}.mjs`)
  await play(scenario, given.data ?? {})
} catch (error) {
  scenario.fault(error.stack)
  await scenario.picture('failed').catch(() => {})
}
await browser.close()
for (const fault of new Set(scenario.faults())) console.log(fault)
process.exitCode = scenario.faults().length > 0 ? 1 : 0
