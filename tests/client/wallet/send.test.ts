import { describe, expect, test } from 'bun:test';
import type { Hex } from '../../../client/wallet/bytes.ts';
import type { Enclave } from '../../../client/wallet/enclave.ts';
import type { Operation } from '../../../client/wallet/operation.ts';
import { checkFee, FeeBoundError, signOperation } from '../../../client/wallet/send.ts';
import { settled } from '../../support/settled.ts';

const feeMax = '10000000000000000';
const operation = (more: Partial<Record<keyof Operation, Hex>> = {}): Operation => ({
  sender: '0x00000000000000000000000000000000000a11ce',
  nonce: '0x0',
  callData: '0x',
  callGasLimit: '0x30d40',
  verificationGasLimit: '0x30d40',
  preVerificationGas: '0x186a0',
  maxFeePerGas: '0x4a817c800',
  maxPriorityFeePerGas: '0x1',
  signature: '0x',
  ...more,
});
const sponsored = { paymaster: '0x00000000000000000000000000000000000b0b01' } as const;

describe('the bound on fees', () => {
  test.each([
    ['500,000 gas at 20 gwei, exactly the bound', {}, true],
    ['one unit of gas more', { preVerificationGas: '0x186a1' }, false],
    ['a higher price', { maxFeePerGas: '0x4a817c801' }, false],
    ['more gas for the call', { callGasLimit: '0x30d41' }, false],
    ['more gas for the verification', { verificationGasLimit: '0x30d41' }, false],
    ['0.9 ETH of preVerificationGas', { preVerificationGas: '0x2aea540' }, false],
    ['a sponsor, who pays the same', sponsored, true],
    ['a sponsor, whose own gas is too much', { ...sponsored, paymasterVerificationGasLimit: '0x1' }, false],
    ['a sponsor, whose gas afterwards is too much', { ...sponsored, paymasterPostOpGasLimit: '0x1' }, false],
  ] as const)('%s', (_, more, isWithin) => {
    const check = () => checkFee(operation(more), { feeMax });
    if (isWithin) expect(check()).toEqual(operation(more));
    else expect(check).toThrow(FeeBoundError);
  });

  test('names both amounts', () => {
    expect(() => checkFee(operation({ maxFeePerGas: '0x8bb2c97000' }), { feeMax })).toThrow(
      'Up to 0.3 ETH; the operator of this vault allows 0.01 ETH.',
    );
  });

  test('holds again where the passkey would sign', async () => {
    const account = { address: operation().sender, credentialId: '', kind: 1, name: '', x: '0x1', y: '0x1' } as const;
    const config = { rpId: 'localhost', chainId: 84532, feeMax };
    const standing = { state: { isDeployed: true, isOwn: true, kind: 1, keys: [] }, fees: {} as never, at: 0 } as const;
    const signing = { config, enclave: {} as Enclave, entryPoint: '0x', standing } as const;
    expect(await settled(signOperation(account, operation({ preVerificationGas: '0xffffff' }), signing))).toThrow(
      FeeBoundError,
    );
  });
});
