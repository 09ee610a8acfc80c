import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openApiDocument } from '../../scripts/openapi/document.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeAll(async () => {
  t = await startVault();
});
afterAll(() => t.stop());

test('the description of the API is served to every origin, as a file with a tag', async () => {
  const { status, headers, body } = await t.call('GET /openapi.json', {}, { Origin: 'https://shop.example' });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  expect(body).toEqual(JSON.parse(JSON.stringify(await openApiDocument())));
  const again = await t.call('GET /openapi.json', {}, { 'If-None-Match': headers.get('etag') ?? '' });
  expect([again.status, again.text]).toEqual([304, '']);
});
