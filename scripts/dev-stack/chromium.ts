import { existsSync } from 'node:fs';

/**
 * Chromium's executable: `CHROMIUM`, or where Debian, macOS or Windows has it or Chrome; undefined where there is none.
 * Tests that need it are skipped then, with a line that says so.
 */
export const chromium = (
  process.env['CHROMIUM'] === undefined
    ? [
        '/usr/bin/chromium',
        '/usr/bin/google-chrome',
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
        'C:/Program Files/Google/Chrome/Application/chrome.exe',
      ]
    : [process.env['CHROMIUM']]
).find(existsSync);

/** What a run of tests says where there is none. */
export const NO_CHROMIUM = 'no Chromium on this machine: tests in a browser are skipped (CHROMIUM=/path/to/chrome)';
