// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DIDRegistry} from "../DIDRegistry.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

/// @notice What contracts do with the registry; what people do is in `tests/contracts/registry.test.ts`.
contract DIDRegistryTest is Expect {
    bytes32 private constant DID = keccak256("did:example:alice");
    bytes32 private constant ALIAS = keccak256("alice");

    DIDRegistry private immutable _registry = new DIDRegistry(address(this), address(0));
    KeyHolder private immutable _controller = new KeyHolder(1, 2);

    function test_a_registry_starts_without_registrars_where_none_is_named() external {
        expect(!_registry.isRegistrar(address(0)), "nobody is a registrar");
        bytes memory call = abi.encodeCall(DIDRegistry.registerFor, (address(_controller), DID, 0, ""));
        bytes memory reason = abi.encodeWithSelector(DIDRegistry.NotRegistrar.selector, address(this));
        expectRevert(address(_registry), call, reason);
    }

    function test_a_zero_alias_hash_is_no_alias_however_often() external {
        for (uint160 i = 1; i <= 3; ++i) {
            _registry.setRegistrar(address(this), true);
            _registry.registerFor(address(i), bytes32(uint256(i)), 0, "");
        }
        expect(_registry.aliases(0) == 0, "an alias");
        (address controller,,,,) = _registry.resolveAlias(0);
        expect(controller == address(0), "a registration");
    }

    function test_a_contract_registers_and_alone_changes_what_it_controls() external {
        _controller.forward(address(_registry), abi.encodeCall(DIDRegistry.register, (DID, ALIAS, "cid")));
        (address controller, uint256 created,, string memory cid, bool active) = _registry.resolveAlias(ALIAS);
        expect(controller == address(_controller) && created == block.timestamp && active, "another registration");
        expect(keccak256(bytes(cid)) == keccak256("cid"), "another CID");
        bytes memory reason = abi.encodeWithSelector(DIDRegistry.NotController.selector, DID, address(this));
        expectRevert(address(_registry), abi.encodeCall(DIDRegistry.update, (DID, "")), reason);
        expectRevert(address(_registry), abi.encodeCall(DIDRegistry.deactivate, (DID)), reason);
    }
}
