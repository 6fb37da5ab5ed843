// Opens every page of a built site in Chromium, and prints what is wrong:
//
//   node site/check.mjs bin/site
//   node site/check.mjs bin/site --screenshots DIR index.html install.html
//
// Exit code 0: nothing is; 1: something is; 2: the check could not be made.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { answerFrom, fileOf } from './check/files.mjs'
import { Page } from './check/page.mjs'

// unusable says what is missing, and what to do.
function unusable(message) {
  console.error(`site check: ${message}`)
  process.exit(2)
}

function browserProgram() {
  const wanted = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = wanted.flatMap((name) => (path.isAbsolute(name) ? [name] : folders.map((folder) => path.join(folder, name)))).find(existsSync)
  return found ?? unusable(`found no ${wanted.join(', ')} on the PATH: install Chromium, Debian's package chromium, or name the program with $CHROMIUM`)
}

// Check is what there is to check: a browser, the site's folder and address, and what was found.
class Check {
  findings = new Set()

  constructor(browser, folder, site) {
    Object.assign(this, { browser, folder, site })
  }

  async open(options) {
    const context = await this.browser.newContext(options)
    await answerFrom(context, this.folder, this.site)
    return context
  }

  // pages opens all pages, two at a time, and returns their links and ids.
  async pages(names) {
    const context = await this.open({})
    await context.addInitScript({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') })
    const pages = new Map()
    const waiting = [...names]
    const worker = async () => {
      const tab = await context.newPage()
      for (let name = waiting.shift(); name; name = waiting.shift()) {
        const page = new Page(tab, new URL(name, this.site), (what) => this.findings.add(`${name}: ${what}`))
        pages.set(name, await page.check())
      }
    }
    await Promise.all([worker(), worker()])
    await context.close()
    return pages
  }

  // links compares the links of all pages with the files and the ids that there are.
  links(pages) {
    let count = 0
    for (const [name, { links }] of pages) {
      for (const link of links.map((l) => new URL(l)).filter((l) => l.origin === this.site.origin)) {
        count++
        const target = fileOf(link, this.site)
        const anchor = decodeURIComponent(link.hash.slice(1))
        if (!existsSync(path.join(this.folder, target))) {
          this.findings.add(`${name}: the link ${link.pathname} leads nowhere`)
        } else if (anchor && !pages.get(target)?.ids.includes(anchor)) {
          this.findings.add(`${name}: the link ${link.pathname}${link.hash} leads to no heading of that page`)
        }
      }
    }
    return count
  }

  // search types a word as readers do, and follows the first result.
  async search(word) {
    const context = await this.open({})
    const tab = await context.newPage()
    tab.setDefaultTimeout(10_000)
    try {
      await tab.goto(this.site.href)
      await tab.locator('#local-search button').click()
      await tab.locator('#localsearch-input').fill(word)
      await tab.locator('.VPLocalSearchBox .result').first().click()
      await tab.locator('main').getByText(word).first().waitFor()
    } catch (err) {
      this.findings.add(`the search for ${word} leads to no page with it: ${err.message.split('\n')[0]}`)
    }
    await context.close()
  }

  // screenshots are of the first screen of pages, on a telephone and at a desk, light and dark.
  async screenshots(names, target) {
    for (const colorScheme of ['light', 'dark']) {
      for (const width of [320, 1280]) {
        const context = await this.open({ colorScheme, viewport: { width, height: 900 } })
        const tab = await context.newPage()
        for (const name of names) {
          await tab.goto(new URL(name, this.site).href, { waitUntil: 'networkidle' })
          const file = `${name.replaceAll('/', '-').replace('.html', '')}-${width}-${colorScheme}.png`
          await tab.screenshot({ path: path.join(target, file) })
        }
        await context.close()
      }
    }
  }

  async everything() {
    const files = readdirSync(this.folder, { recursive: true }).map((name) => name.split(path.sep).join('/'))
    const names = files.filter((name) => name.endsWith('.html')).sort()
    const links = this.links(await this.pages(names))
    await this.search('AccessDenied')
    console.log(`site check: ${names.length} pages, light and dark, ${links} links between them, ${this.findings.size} findings`)
  }
}

const { values, positionals } = parseArgs({ options: { screenshots: { type: 'string' } }, allowPositionals: true })
const [folder, ...shown] = positionals
if (!folder || !existsSync(path.join(folder, 'index.html'))) {
  unusable(`${folder ?? 'no folder'} has no index.html, expected the folder of a site: run make site`)
}
const [, base] = /<link rel="modulepreload" href="([^"]*)assets\//.exec(readFileSync(path.join(folder, 'index.html'), 'utf8')) ?? [, '/']
const browser = await chromium.launch({ executablePath: browserProgram() })
const check = new Check(browser, folder, new URL(base, 'http://site.test'))
if (values.screenshots) {
  await check.screenshots(shown, values.screenshots)
} else {
  await check.everything()
}
await browser.close()
for (const finding of [...check.findings].sort()) console.log(finding)
process.exitCode = check.findings.size > 0 ? 1 : 0
