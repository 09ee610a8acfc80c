// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DIDRegistry2, ILegacyRegistry} from "../DIDRegistry2.sol";
import {AliasBook} from "../registry2/AliasBook.sol";
import {AccountDid} from "../registry2/AccountDid.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

/// @notice What contracts do with the second registry; what passkeys and time do is in `tests/contracts/registry-2*.test.ts`.
contract DIDRegistry2Test is Expect {
    bytes32 private constant DID = keccak256("did:example:alice");
    bytes32 private constant ALIAS = keccak256("alice");

    DIDRegistry2 private immutable _registry = new DIDRegistry2(
        address(this), address(0), address(0), ILegacyRegistry(address(0)), 0
    );
    KeyHolder private immutable _alice = new KeyHolder(1, 2);
    KeyHolder private immutable _mallory = new KeyHolder(3, 4);

    function test_a_did_of_an_address_is_written_as_eip_55_says() external view {
        // The examples of EIP-55.
        _expectDid(0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
        _expectDid(0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359, "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359");
        _expectDid(0x52908400098527886E0F7030069857D2E4169EE7, "0x52908400098527886E0F7030069857D2E4169EE7");
        _expectDid(0xde709f2102306220921060314715629080e2fb77, "0xde709f2102306220921060314715629080e2fb77");
    }

    function test_an_address_takes_its_own_did_from_a_squatter_once() external {
        bytes32 own = AccountDid.checksummed(address(_alice));
        _by(_mallory, abi.encodeCall(DIDRegistry2.register, (own, ALIAS, "")));
        _by(_alice, abi.encodeCall(DIDRegistry2.registerSelf, (0, "cid")));
        (address controller,,, string memory cid, bool active) = _registry.resolve(own);
        expect(controller == address(_alice) && active && keccak256(bytes(cid)) == keccak256("cid"), "another holder");
        expect(_registry.aliases(ALIAS) == 0, "the squatter's alias leads to the victim");
        expect(_registry.controllerToDid(address(_mallory)) == 0, "the squatter's place");
        _expectRefused(
            _mallory,
            abi.encodeCall(DIDRegistry2.register, (own, 0, "")),
            abi.encodeWithSelector(DIDRegistry2.DidTaken.selector, own)
        );
    }

    function test_a_did_is_offered_and_accepted_and_keeps_its_alias() external {
        _by(_alice, abi.encodeCall(DIDRegistry2.register, (DID, ALIAS, "")));
        bytes memory accept = abi.encodeCall(DIDRegistry2.acceptDid, (DID));
        bytes memory reason = abi.encodeWithSelector(DIDRegistry2.NotOffered.selector, DID, address(_mallory));
        _expectRefused(_mallory, accept, reason);
        _by(_alice, abi.encodeCall(DIDRegistry2.offerDid, (DID, address(_mallory))));
        _by(_mallory, accept);
        (address controller,,,,) = _registry.resolveAlias(ALIAS);
        expect(controller == address(_mallory), "another controller");
        expect(_registry.controllerToDid(address(_alice)) == 0, "a place that is not free");
        _by(_alice, abi.encodeCall(DIDRegistry2.registerSelf, (0, "")));
    }

    function test_an_alias_of_an_ended_did_leads_to_the_next_one() external {
        _by(_alice, abi.encodeCall(DIDRegistry2.register, (DID, ALIAS, "")));
        _by(_alice, abi.encodeCall(DIDRegistry2.deactivate, (DID)));
        bytes memory take = abi.encodeCall(DIDRegistry2.registerSelf, (ALIAS, ""));
        _expectRefused(_mallory, take, abi.encodeWithSelector(AliasBook.AliasTaken.selector, ALIAS));
        _by(_alice, take);
        expect(_registry.aliases(ALIAS) == AccountDid.checksummed(address(_alice)), "another DID");
    }

    function test_the_zero_alias_hash_is_no_alias() external {
        _by(_alice, abi.encodeCall(DIDRegistry2.registerSelf, (0, "")));
        bytes memory claim = abi.encodeCall(AliasBook.claimAlias, (bytes32(0), bytes32(0)));
        _expectRefused(_alice, claim, abi.encodeWithSelector(AliasBook.InvalidAlias.selector));
        expect(_registry.aliases(0) == 0, "an alias");
    }

    function test_only_a_registrar_registers_for_another() external {
        DIDRegistry2.Consent memory consent;
        bytes memory call = abi.encodeCall(DIDRegistry2.registerFor, (address(_alice), DID, 0, consent));
        bytes memory reason = abi.encodeWithSelector(DIDRegistry2.NotRegistrar.selector, address(this));
        expectRevert(address(_registry), call, reason);
    }

    function _expectDid(address account, string memory text) private view {
        bytes32 did = keccak256(abi.encodePacked("did:pkh:eip155:", _decimal(block.chainid), ":", text));
        expect(AccountDid.checksummed(account) == did && AccountDid.isOf(did, account), text);
        bytes memory lower = bytes(text);
        for (uint256 i = 2; i < 42; ++i) if (lower[i] >= "A" && lower[i] <= "F") lower[i] = bytes1(uint8(lower[i]) + 32);
        did = keccak256(abi.encodePacked("did:pkh:eip155:", _decimal(block.chainid), ":", lower));
        expect(AccountDid.isOf(did, account), "in lower case");
        expect(!AccountDid.isOf(did, address(uint160(account) ^ 1)), "of another address");
    }

    function _decimal(uint256 number) private pure returns (string memory digits) {
        for (; number != 0; number /= 10) digits = string.concat(string(abi.encodePacked(bytes1(uint8(48 + number % 10)))), digits);
    }

    function _by(KeyHolder holder, bytes memory data) private {
        holder.forward(address(_registry), data);
    }

    function _expectRefused(KeyHolder holder, bytes memory data, bytes memory reason) private {
        expectRevert(address(holder), abi.encodeCall(KeyHolder.forward, (address(_registry), data)), reason);
    }
}
