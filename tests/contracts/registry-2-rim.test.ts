import { afterAll, describe, expect, test } from 'bun:test';
import { type Address, Hash, Hex } from 'ox';
import { type Account, devAccount, waitForReceipt } from '../../scripts/dev-stack/wallet.ts';
import {
  accountOf,
  commitment,
  consentFor,
  freshHash,
  keyOf,
  NOBODY,
  openRegistry,
  pkhHash,
  startRegistries,
  timeNow,
  ZERO,
} from '../support/registries.ts';
import { openMachine } from '../support/registry-model/machine.ts';
import { createWorld, OPENS } from '../support/registry-model/world.ts';
import { settled } from '../support/settled.ts';
import { until } from '../support/until.ts';

// What the review of the chain showed against the second registry (H2, L1 to L6, R18), each attack as it was made.

const { rpc, stop, stranger, later, registry1, registry2, factory1, factory2, deploy } = await startRegistries();
afterAll(stop);
const [owner, registrar] = [devAccount('owner'), devAccount('registrar')];
const DAY = 86_400n;
const rest = async (seconds: bigint) => {
  await later(seconds);
  await rpc('evm_mine', []);
};

/** A registry that follows the first one and opens so many seconds from now; its owner makes it another address. */
async function follow(seconds: bigint, first = registry1.address) {
  const until = (await timeNow(rpc)) + seconds;
  const by = (await stranger()).address;
  return openRegistry(rpc, await deploy('DIDRegistry2', by, NOBODY, NOBODY, first, until), 2);
}

/** The lower-case spelling of an address's did:pkh, by its hash. */
function lowerHash(address: Address.Address): Hex.Hex {
  return Hash.keccak256(Hex.fromString(`did:pkh:eip155:84532:${address.toLowerCase()}`));
}

describe('a registry that somebody deploys before its operator (H2)', () => {
  test('gives nothing away that the first registry gives out before it opens', async () => {
    const [alice, bob, mallory] = [await stranger(), await stranger(), await stranger()];
    const [name, did, late] = [freshHash(), freshHash(), freshHash()];
    const early = await follow(DAY);
    await registry1.act(bob, 'register', did, name, '');
    for (const args of [
      [did, ZERO, ''],
      [freshHash(), name, ''],
      [pkhHash(mallory.address), name, ''],
    ] as const)
      expect((await early.refused(mallory, 'register', ...args))[0]).toBe('NotOpenYet');
    await early.act(mallory, 'registerSelf', ZERO, '');
    expect((await early.refused(mallory, 'claimAlias', name, ZERO))[0]).toBe('NotOpenYet');
    await rest(DAY);
    await registry1.act(mallory, 'register', freshHash(), late, '');
    expect(await early.refused(mallory, 'claimAlias', name, ZERO)).toEqual(['AliasTaken', name]);
    await early.act(bob, 'register', did, name, '');
    expect(await early.read('aliases', name)).toBe(did);
    // What comes later counts for nothing.
    await early.act(alice, 'registerSelf', late, '');
    expect(await early.read('aliases', late)).toBe(pkhHash(alice.address));
  });

  test('cannot come into being after its time, by anybody', async () => {
    const until = (await timeNow(rpc)) - 1n;
    const by = (await stranger()).address;
    expect(await settled(deploy('DIDRegistry2', by, NOBODY, NOBODY, registry1.address, until))).toThrow();
    await deploy('DIDRegistry2', by, NOBODY, NOBODY, registry1.address, until + DAY);
  });

  test('takes no name from who brought it from the first one, by an older claim either', async () => {
    const [bob, mallory] = [await stranger(), await stranger()];
    const [name, did, salt] = [freshHash(), freshHash(), freshHash()];
    await registry1.act(bob, 'register', did, name, '');
    const following = await follow(10n);
    await rest(10n);
    await following.act(mallory, 'registerSelf', ZERO, '');
    await following.act(mallory, 'commitAlias', commitment(name, mallory.address, salt));
    await following.act(mallory, 'commitAlias', commitment(did, mallory.address, salt));
    await following.act(bob, 'register', did, name, '');
    expect(await following.refused(mallory, 'claimAlias', name, salt)).toEqual(['AliasTaken', name]);
    expect(await following.refused(mallory, 'claimDid', did, salt, ZERO, '')).toEqual(['DidTaken', did]);
  });
});

describe('an alias of a DID that has ended (L1)', () => {
  /** Somebody whose DID with a name ended so long ago, and somebody with a DID who waits for the name. */
  async function ended(days: bigint) {
    const [alice, carol, name, did] = [await stranger(), await stranger(), freshHash(), freshHash()];
    await registry2.act(alice, 'register', did, name, '');
    await registry2.act(alice, 'deactivate', did);
    await registry2.act(carol, 'registerSelf', ZERO, '');
    await rest(days * DAY);
    return { alice, carol, name };
  }

  test('is anybody’s after 30 days, also when it is freed in front of the claim', async () => {
    const { alice, carol, name } = await ended(30n);
    await registry2.act(alice, 'freeAlias', name);
    await registry2.act(carol, 'claimAlias', name, ZERO);
    expect(await registry2.read('aliases', name)).toBe(pkhHash(carol.address));
  });

  test('is held for 30 days in all, not for 58', async () => {
    const { alice, carol, name } = await ended(29n);
    await registry2.act(alice, 'freeAlias', name);
    expect(await registry2.refused(carol, 'claimAlias', name, ZERO)).toEqual(['AliasTaken', name]);
    await later(DAY);
    await registry2.act(carol, 'claimAlias', name, ZERO);
  });

  test.each(['registerSelf', 'pointAlias', 'freeAlias'] as const)(
    'goes to an older claim after 30 days, if its former holder takes it anew first by %s',
    async (by) => {
      const { alice, carol, name } = await ended(30n);
      const salt = freshHash();
      await registry2.act(carol, 'commitAlias', commitment(name, carol.address, salt));
      await later(1n);
      if (by === 'freeAlias') await registry2.act(alice, 'freeAlias', name);
      await registry2.act(alice, 'registerSelf', by === 'pointAlias' ? ZERO : name, '');
      if (by === 'pointAlias') await registry2.act(alice, 'pointAlias', name);
      await registry2.act(carol, 'claimAlias', name, salt);
      expect(await registry2.read('aliases', name)).toBe(pkhHash(carol.address));
    },
  );
});

describe('the other spelling of an address’s did:pkh (L2)', () => {
  test('is ended by that address, which keeps its own', async () => {
    const [alice, mallory] = [await stranger(), await stranger()];
    await registry2.act(alice, 'registerSelf', ZERO, '');
    const did = lowerHash(alice.address);
    await registry2.act(mallory, 'register', did, ZERO, '');
    expect(await registry2.refused(alice, 'register', did, ZERO, '')).toEqual(['ControllerTaken', alice.address]);
    expect(await registry2.act(alice, 'voidOwn', did)).toEqual([['DIDDeactivated', { didHash: did }]]);
    expect(await registry2.read('resolve', did)).toContain(false);
    expect(await registry2.read('resolve', pkhHash(alice.address))).toContain(alice.address);
    for (const [name, ...args] of [
      ['update', did, ''],
      ['offerDid', did, alice.address],
    ] as const)
      expect(await registry2.refused(mallory, name, ...args)).toEqual(['NotActive', did]);
    expect(await registry2.refused(mallory, 'register', did, ZERO, '')).toEqual(['DidTaken', did]);
  });

  test('is ended by nobody else, and not where it is rightfully held', async () => {
    const [alice, bob] = [await stranger(), await stranger()];
    const did = lowerHash(alice.address);
    expect(await registry2.refused(alice, 'voidOwn', did)).toEqual(['NotActive', did]);
    await registry2.act(alice, 'register', did, ZERO, '');
    expect(await registry2.refused(bob, 'voidOwn', did)).toEqual(['NotController', did, bob.address]);
    await registry2.act(alice, 'offerDid', did, bob.address);
    await registry2.act(bob, 'acceptDid', did);
    expect(await registry2.refused(alice, 'voidOwn', did)).toEqual(['DidTaken', did]);
  });
});

describe('a DID that is nobody’s own, such as did:key (L3)', () => {
  const commit = async (by: Account, did: Hex.Hex, salt: Hex.Hex, to = by.address) => {
    await registry2.act(by, 'commitAlias', commitment(did, to, salt));
    await later(1n);
  };

  test('is not burnt by register and deactivate where a commitment is older', async () => {
    const [alice, mallory, did, salt, name] = [
      await stranger(),
      await stranger(),
      freshHash(),
      freshHash(),
      freshHash(),
    ];
    await commit(alice, did, salt);
    await registry2.act(mallory, 'register', did, name, '');
    await registry2.act(mallory, 'deactivate', did);
    await registry2.act(alice, 'claimDid', did, salt, ZERO, 'alice');
    expect(await registry2.read('resolve', did)).toEqual([
      alice.address,
      expect.any(BigInt),
      expect.any(BigInt),
      'alice',
      true,
    ]);
    // The squatter's name does not lead to her.
    expect(await registry2.read('aliases', name)).toBe(ZERO);
    expect(await registry2.refused(mallory, 'claimDid', did, salt, ZERO, '')).toEqual(['DidTaken', did]);
  });

  test('stays with the oldest claim, and is settled after 10 minutes also where another DID held it', async () => {
    const [alice, bob, carol, did, salt] = [
      await stranger(),
      await stranger(),
      await stranger(),
      freshHash(),
      freshHash(),
    ];
    for (const one of [alice, bob, carol]) await commit(one, did, salt);
    await registry2.act(carol, 'claimDid', did, salt, ZERO, '');
    await later(300n);
    await registry2.act(bob, 'claimDid', did, salt, ZERO, '');
    await later(300n);
    expect(await registry2.refused(alice, 'claimDid', did, salt, ZERO, '')).toEqual(['DidTaken', did]);
    const [other, again] = [freshHash(), freshHash()];
    for (const one of [alice, carol]) await commit(one, other, again);
    await registry2.act(alice, 'claimDid', other, again, ZERO, '');
    expect(await registry2.refused(carol, 'claimDid', other, again, ZERO, '')).toEqual(['DidTaken', other]);
  });

  test('is relayed by a commitment too, and a consent does not open a DID that its account has ended', async () => {
    const [mallory, did, salt] = [await stranger(), freshHash(), freshHash()];
    const account = await accountOf(rpc, factory1, 1);
    const holder = await deploy('KeyHolder', ...keyOf(account.passkey));
    const expiresAt = await timeNow(rpc);
    const consent = {
      ...consentFor({ account: { ...account, address: holder }, registry: registry2.address, didHash: did, expiresAt }),
      salt,
    };
    const call = [holder, did, ZERO, consent] as const;
    await commit(registrar, did, ZERO, holder);
    await commit(registrar, did, salt, holder);
    await registry2.act(mallory, 'register', did, ZERO, '');
    await registry2.act(registrar, 'registerFor', ...call);
    expect(await registry2.read('controllerToDid', holder)).toBe(did);
    const end = Hex.concat('0x22eee84c', did);
    await rpc('anvil_impersonateAccount', [holder]);
    await rpc('anvil_setBalance', [holder, '0xde0b6b3a7640000']);
    const ended = await rpc('eth_sendTransaction', [{ from: holder, to: registry2.address, data: end }]);
    await waitForReceipt(rpc, ended as Hex.Hex);
    const again = [holder, did, ZERO, { ...consent, salt: ZERO }] as const;
    expect(await registry2.refused(registrar, 'registerFor', ...again)).toEqual(['DidTaken', did]);
  });
});

test('a first registry whose resolve reverts stands in nobody’s way (L4)', async () => {
  const following = await follow(10n, await deploy('DevUSDC'));
  await rest(10n);
  const [alice, did] = [await stranger(), freshHash()];
  await following.act(alice, 'register', did, ZERO, '');
  expect(await following.read('controllerToDid', alice.address)).toBe(did);
});

test('a first registry without code closes all but an own did:pkh, so the command follows none', async () => {
  const following = await follow(10n, (await stranger()).address);
  await rest(10n);
  const alice = await stranger();
  expect(await settled(following.act(alice, 'register', freshHash(), ZERO, ''))).toThrow('reverted');
  await following.act(alice, 'registerSelf', ZERO, '');
  expect(await following.read('isRightful', pkhHash(alice.address))).toBe(true);
});

test('a DID that was taken 254 times in its first 10 minutes goes to no older claim any more', async () => {
  const machine = await openMachine();
  const world = createWorld(machine.factory1, machine.implementation1);
  const did = freshHash();
  const people = Array.from({ length: 256 }, (_, i) => Hex.fromNumber(i + 1, { size: 20 }));
  let time = OPENS;
  const act = (name: string, by: Hex.Hex) =>
    machine.step(world, { name, by, to: by, did, alias: ZERO, salt: ZERO, end: 0, time: time++ });
  // The last one's commitment is the oldest.
  for (const one of [...people].reverse()) await act('commitDid', one);
  for (const one of people.slice(0, 255)) expect(await act('claimDid', one)).toHaveProperty('events');
  expect(await act('claimDid', people[255] as Hex.Hex)).toEqual({ error: 'DidTaken' });
});

describe('a contract that is no account (L5)', () => {
  /** What a registrar is told of it, with a consent by any key. */
  async function consented(code: Hex.Hex) {
    const address = (await stranger()).address;
    await rpc('anvil_setCode', [address, code]);
    const account = { ...(await accountOf(rpc, factory2, 2)), address };
    const didHash = pkhHash(address);
    const expiresAt = await timeNow(rpc);
    return [address, didHash, ZERO, consentFor({ account, registry: registry2.address, didHash, expiresAt })] as const;
  }

  test('and answers 1 to everything gives its place to nobody’s key', async () => {
    const call = await consented('0x600160005260206000f3');
    expect(await registry2.refused(registrar, 'registerFor', ...call)).toEqual(['NotKeyOf', call[0]]);
  });

  test('burns 300,000 gas of a registrar at most', async () => {
    const call = await consented('0x5b600056');
    await rpc('anvil_impersonateAccount', [registrar.address]);
    const data = registry2.encode('registerFor', ...call);
    const sent = { from: registrar.address, to: registry2.address, data, gas: '0x1e8480' };
    const hash = await rpc('eth_sendTransaction', [sent]);
    await rpc('anvil_stopImpersonatingAccount', [registrar.address]);
    const { gasUsed, status } = await until(
      'the receipt',
      async () => (await rpc('eth_getTransactionReceipt', [hash])) as { gasUsed: Hex.Hex; status: string } | null,
    );
    expect(status).toBe('0x0');
    expect(Number(gasUsed)).toBeLessThan(380_000);
  });
});

describe('a consent (L6)', () => {
  test('serves the registrar alone that it names, until the owner withdraws that one', async () => {
    const second = await stranger();
    await registry2.act(owner, 'setRegistrar', second.address, true);
    const order = async () => {
      const account = await accountOf(rpc, factory2, 2);
      const didHash = pkhHash(account.address);
      const expiresAt = await timeNow(rpc);
      return [
        account.address,
        didHash,
        ZERO,
        consentFor({ account, registry: registry2.address, didHash, expiresAt }),
      ] as const;
    };
    const [first, call] = [await order(), await order()];
    await registry2.act(registrar, 'registerFor', ...first);
    const { registrarDidHash } = call[3];
    expect(await registry2.refused(second, 'registerFor', ...call)).toEqual(['ConsentOfAnother', registrarDidHash]);
    expect(await registry2.read('registrarOf', registrarDidHash)).toBe(registrar.address);
    await registry2.act(owner, 'setRegistrar', registrar.address, false);
    await registry2.act(second, 'registerFor', ...call);
    await registry2.act(owner, 'setRegistrar', registrar.address, true);
    expect((await registry2.refused(registrar, 'registerFor', ...(await order())))[0]).toBe('ConsentOfAnother');
    await registry2.act(owner, 'setRegistrar', second.address, false);
    await registry2.act(registrar, 'registerFor', ...(await order()));
  });
});

test('its owner cannot renounce, so that a registrar can always be withdrawn (R18)', async () => {
  expect(await registry2.refused(owner, 'renounceOwnership')).toEqual(['OwnershipStays']);
  const mallory = await stranger();
  expect(await registry2.refused(mallory, 'renounceOwnership')).toEqual([
    'OwnableUnauthorizedAccount',
    mallory.address,
  ]);
});
