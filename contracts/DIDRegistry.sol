// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

/// @title Registry of decentralized identifiers by their hashes
/// @notice A DID is known here by keccak256 of its text and controlled by one address. An alias is the hash of a name
/// that leads to a DID. Nothing is ever given out twice: the hashes of a deactivated DID and of its alias stay taken.
///
/// Who may do what: anyone registers for themselves; a registrar registers for others; only the controller updates and
/// deactivates; only the owner names registrars. Neither owner nor registrar can change or remove a registration.
///
/// What no stranger can take, however fast: a controller's place (`controllerToDid`), since only the controller itself
/// and registrars fill it, and a registration once it is mined. What anyone can take who sees a transaction before it is
/// mined: the DID hash and the alias hash in it, since the registry does not know whose a DID or a name is. The copied
/// registration carries the copier's address as controller, so whoever reads one must compare its controller.
/// A dishonest registrar can fill a controller's place with a DID of its own choosing; the controller frees it with
/// `deactivate`.
contract DIDRegistry is Ownable2Step {
    /// @dev All but the CID is in one storage slot; times are seconds since the Unix epoch.
    struct Registration {
        address controller;
        uint40 created;
        uint40 updated;
        bool active;
        string metadataCid;
    }

    uint256 public constant METADATA_CID_BYTES_MAX = 256;

    /// @notice The DID hash an alias hash leads to, active or not; zero when the alias is free.
    mapping(bytes32 aliasHash => bytes32 didHash) public aliases;
    /// @notice The DID hash last registered for a controller, active or not; zero when there was none.
    mapping(address controller => bytes32 didHash) public controllerToDid;
    mapping(address registrar => bool allowed) public isRegistrar;
    mapping(bytes32 didHash => Registration) private _registrations;

    event DIDRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid);
    event AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash);
    event DIDUpdated(bytes32 indexed didHash, string metadataCid);
    event DIDDeactivated(bytes32 indexed didHash);
    event RegistrarSet(address indexed registrar, bool allowed);

    error InvalidDid();
    error InvalidController();
    error MetadataCidTooLong(uint256 length);
    error DidTaken(bytes32 didHash);
    error AliasTaken(bytes32 aliasHash);
    error ControllerTaken(address controller);
    error NotController(bytes32 didHash, address caller);
    error NotActive(bytes32 didHash);
    error NotRegistrar(address caller);

    /// @param firstRegistrar zero for none
    constructor(address firstOwner, address firstRegistrar) Ownable(firstOwner) {
        if (firstRegistrar != address(0)) _setRegistrar(firstRegistrar, true);
    }

    /// @notice Registers a DID with the caller as its controller. Anyone, while no DID of theirs is active.
    /// @param didHash keccak256 of the DID's text, not zero
    /// @param aliasHash the hash of a free alias; zero for none
    /// @param metadataCid where the DID's metadata is; may be empty
    function register(bytes32 didHash, bytes32 aliasHash, string calldata metadataCid) external {
        _register(msg.sender, didHash, aliasHash, metadataCid);
    }

    /// @notice Registers a DID with `controller` as its controller. Registrars only; the rules are those of `register`.
    function registerFor(address controller, bytes32 didHash, bytes32 aliasHash, string calldata metadataCid) external {
        if (!isRegistrar[msg.sender]) revert NotRegistrar(msg.sender);
        if (controller == address(0)) revert InvalidController();
        _register(controller, didHash, aliasHash, metadataCid);
    }

    /// @notice Points an active DID to other metadata. Its controller only.
    function update(bytes32 didHash, string calldata metadataCid) external {
        Registration storage registration = _controlled(didHash);
        _checkCid(metadataCid);
        registration.metadataCid = metadataCid;
        registration.updated = uint40(block.timestamp);
        emit DIDUpdated(didHash, metadataCid);
    }

    /// @notice Ends an active DID for good and lets its controller register another one. Its controller only.
    function deactivate(bytes32 didHash) external {
        Registration storage registration = _controlled(didHash);
        registration.active = false;
        registration.updated = uint40(block.timestamp);
        emit DIDDeactivated(didHash);
    }

    /// @notice Names a registrar or withdraws the role. The owner only.
    function setRegistrar(address registrar, bool allowed) external onlyOwner {
        _setRegistrar(registrar, allowed);
    }

    /// @notice The registration behind an alias; all zero when the alias is free.
    function resolveAlias(bytes32 aliasHash)
        external
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        return resolve(aliases[aliasHash]);
    }

    /// @notice A DID's registration, active or not; all zero when there is none.
    function resolve(bytes32 didHash)
        public
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        Registration storage found = _registrations[didHash];
        return (found.controller, found.created, found.updated, found.metadataCid, found.active);
    }

    function _register(address controller, bytes32 didHash, bytes32 aliasHash, string calldata metadataCid) private {
        if (didHash == 0) revert InvalidDid();
        _checkCid(metadataCid);
        if (_registrations[didHash].controller != address(0)) revert DidTaken(didHash);
        if (_registrations[controllerToDid[controller]].active) revert ControllerTaken(controller);
        controllerToDid[controller] = didHash;
        uint40 time = uint40(block.timestamp);
        _registrations[didHash] = Registration(controller, time, time, true, metadataCid);
        emit DIDRegistered(didHash, controller, metadataCid);
        if (aliasHash == 0) return;
        if (aliases[aliasHash] != 0) revert AliasTaken(aliasHash);
        aliases[aliasHash] = didHash;
        emit AliasRegistered(aliasHash, didHash);
    }

    function _controlled(bytes32 didHash) private view returns (Registration storage registration) {
        registration = _registrations[didHash];
        if (registration.controller != msg.sender) revert NotController(didHash, msg.sender);
        if (!registration.active) revert NotActive(didHash);
    }

    function _checkCid(string calldata metadataCid) private pure {
        if (bytes(metadataCid).length > METADATA_CID_BYTES_MAX) revert MetadataCidTooLong(bytes(metadataCid).length);
    }

    function _setRegistrar(address registrar, bool allowed) private {
        isRegistrar[registrar] = allowed;
        emit RegistrarSet(registrar, allowed);
    }
}
