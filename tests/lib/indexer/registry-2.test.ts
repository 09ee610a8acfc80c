import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { startTestChain } from '../../support/onchain.ts';
import { commitment, nextBlockAt, openRegistry, pkhHash, stranger, timeNow, ZERO } from '../../support/registries.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// The index beside the registry itself, after all that the second one does without an event of its own (X40).

const chain = await startTestChain();
afterAll(chain.stop);
const registry = openRegistry(chain.rpc, chain.registry, 2);
let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, FOLLOWER: 'true', RATE_LIMIT_PROXY_PER_IP: '100000' });
});
afterEach(() => t.stop());

let hashes = 0;
const fresh = () => Hash.keccak256(Hex.fromNumber(++hashes, { size: 32 }));
const somebody = () => stranger(chain.rpc);

/** Reads on; an alias and a DID as index and registry answer them, which must be the same. */
async function expectSame(aliases: readonly Hex.Hex[], dids: readonly Hex.Hex[]): Promise<void> {
  await t.clock.advance(5_000);
  await t.work();
  for (const hash of aliases) {
    const didHash = String(await registry.read('aliases', hash));
    const [controller, , , , active] = (await registry.read('resolveAlias', hash)) as [string, ...unknown[]];
    const { body } = await t.call('GET /api/indexer/aliases', { hash });
    const told = { found: true, alias_hash: hash, did_hash: didHash, active, controller: controller.toLowerCase() };
    expect(body).toEqual(didHash === ZERO ? { found: false } : (told as never));
  }
  for (const hash of dids) {
    const [controller, , , cid, active] = (await registry.read('resolve', hash)) as [string, ...unknown[]];
    const { body } = await t.call('GET /api/indexer/dids', { hash });
    const told = { found: true, controller: controller.toLowerCase(), metadata_cid: cid, active };
    expect(body).toMatchObject(told as never);
  }
}

test('a squatted DID with alias, metadata and end is its own address’s, once taken', async () => {
  const [alice, mallory, name, late] = [await somebody(), await somebody(), fresh(), fresh()];
  const did = pkhHash(alice.address);
  await registry.act(mallory, 'register', did, name, 'mallory');
  await registry.act(mallory, 'update', did, 'mallory again');
  await registry.act(mallory, 'deactivate', did);
  await expectSame([name], [did]);
  await registry.act(alice, 'registerSelf', ZERO, 'alice');
  await expectSame([name], [did]);
  await registry.act(alice, 'claimAlias', late, ZERO);
  await registry.act(alice, 'update', did, 'alice again');
  await expectSame([name, late], [did]);
  await registry.act(alice, 'deactivate', did);
  await expectSame([name, late], [did]);
});

test('a taken alias, a pointed one and a freed one lead where the registry says', async () => {
  const [alice, mallory, name] = [await somebody(), await somebody(), fresh()];
  const [first, second] = [pkhHash(alice.address), fresh()];
  await registry.act(alice, 'registerSelf', ZERO, '');
  await registry.act(alice, 'commitAlias', commitment(name, alice.address, ZERO));
  await nextBlockAt(chain.rpc, (await timeNow(chain.rpc)) + 2n);
  await registry.act(mallory, 'register', fresh(), name, '');
  await expectSame([name], []);
  await registry.act(alice, 'claimAlias', name, ZERO);
  await expectSame([name], []);
  await registry.act(alice, 'deactivate', first);
  await registry.act(alice, 'register', second, ZERO, '');
  await expectSame([name], [first, second]);
  await registry.act(alice, 'pointAlias', name);
  await expectSame([name], []);
  await nextBlockAt(chain.rpc, (await timeNow(chain.rpc)) + 600n);
  await registry.act(alice, 'freeAlias', name);
  await expectSame([name], []);
  await registry.act(alice, 'claimAlias', name, ZERO);
  await expectSame([name], []);
});

test('a moved DID has its new controller, and a re-org gives it back', async () => {
  const [alice, bob, did, name] = [await somebody(), await somebody(), fresh(), fresh()];
  await registry.act(alice, 'register', did, name, '');
  await registry.act(alice, 'offerDid', did, bob.address);
  await expectSame([name], [did]);
  await registry.act(bob, 'acceptDid', did);
  await expectSame([name], [did]);
  await chain.reorg(1);
  await chain.mine(1);
  await expectSame([name], [did]);
  expect((await registry.read('resolve', did)) as unknown[]).toContain(alice.address);
});
