import { expect, test } from 'bun:test';
import { VERSION } from '../../../lib/base/version.ts';
import { version } from '../../../package.json';

test('the version is the one of package.json', () => {
  expect(VERSION).toBe(version);
});
